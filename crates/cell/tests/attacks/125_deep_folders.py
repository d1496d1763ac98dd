# name: deep_folders
# class: artifact
# tries: a tree of folders as deep as names go, under the artifacts, with a file at the bottom
# expected: folders are refused without walking down
# outcome: ok,artifact_limit
# after: artifacts-refused,deadline-within-500ms,supervisor-memory-flat,next-cell-clean
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
n = 0
try:
    for i in range(1_500): os.mkdir("d"); os.chdir("d"); n += 1
except OSError as e: print("INFO", e)
try: open("bottom.csv", "w").write("x")
except OSError as e: print("INFO", e)
print("MADE depth", n)
