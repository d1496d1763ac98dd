# name: unreadable_artifacts
# class: artifact
# tries: artifacts and folders without any permission, with set-user bits, and with times outside every calendar
# expected: read by the host's own right or refused; modes and times are not carried over
# outcome: ok,artifact_limit
# after: artifacts-refused,artifact-names-safe,deadline-within-500ms,next-cell-clean
# oracle: host
import os
try: os.chdir(artifacts)
except NameError: pass
for name, mode in (("none.csv", 0), ("setuid.bin", 0o6777), ("write-only.txt", 0o222)):
    open(name, "w").write("x"); os.chmod(name, mode)
for name, at in (("past.txt", -(1 << 62)), ("future.txt", 1 << 62)):
    open(name, "w").write("x")
    try: os.utime(name, ns=(at, at))
    except (OSError, OverflowError) as e: print("INFO", name, e)
os.mkdir("sub"); os.chmod("sub", 0)
os.chmod(".", 0)
print("MADE")
