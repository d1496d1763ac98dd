# name: many_artifacts
# class: artifact
# tries: leave as many small artifacts as the work folder takes, up to 100,000
# expected: at most the limit is collected, the rest is reported, the collector does not look at all of them
# outcome: artifact_limit,ok
# after: artifacts-refused,supervisor-memory-flat,deadline-within-500ms,next-cell-clean
# limits: wall=10s
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
n = 0
try:
    for i in range(100_000): open(f"{i}.csv", "w").close(); n += 1
except OSError as e: print("INFO", e)
print("MADE", n)
