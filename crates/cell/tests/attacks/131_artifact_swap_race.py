# name: artifact_swap_race
# class: artifact
# tries: swap a file, a link and a folder under one name as fast as possible while the result is collected
# expected: the collector sees one of them and follows none
# outcome: ok,artifact_limit,error
# after: no-host-file-content,artifact-names-safe,deadline-within-500ms,no-artifact-outside
# oracle: host
import os, threading, time
try: os.chdir(artifacts)
except NameError: pass
open("plain", "w").write("x"); os.symlink("/etc/passwd", "link"); os.mkdir("folder"); os.symlink("/tmp/attack-canary/secret.txt", "canary")
def swap():
    while True:
        for name in ("plain", "link", "folder", "canary"):
            try: os.rename(name, "out.csv"); os.rename("out.csv", name)
            except OSError: pass
for i in range(4): threading.Thread(target=swap, daemon=True).start()
time.sleep(0.2)
