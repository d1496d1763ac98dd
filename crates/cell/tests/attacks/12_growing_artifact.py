# name: growing_artifact
# class: artifact
# tries: let a thread go on writing to an artifact while and after the result is sent
# expected: artifacts are read once nobody can change them; what is recorded is what is there
# outcome: ok,artifact_limit
# after: artifacts-refused,artifact-names-safe,deadline-within-500ms,no-leftover-process
# oracle: host
import os, threading
try: os.chdir(artifacts)
except NameError: pass
def grow():
    n = 0
    while True:
        with open("log.txt", "ab") as f: f.write(b"line %d\n" % n * 100)
        n += 1
threading.Thread(target=grow, daemon=True).start()
