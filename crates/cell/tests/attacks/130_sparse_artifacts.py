# name: sparse_artifacts
# class: artifact
# tries: fifty sparse files of 100 MiB each, which take no room until they are copied
# expected: their apparent size counts; the host's memory and disk stay flat
# outcome: artifact_limit,ok
# after: artifacts-refused,supervisor-memory-flat,deadline-within-500ms
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
made = 0
for i in range(50):
    try:
        with open(f"{i}.bin", "wb") as f: f.truncate(100 << 20); made += 1
    except OSError as e: print("CONTAINED", e)
if made: print("MADE", made)
