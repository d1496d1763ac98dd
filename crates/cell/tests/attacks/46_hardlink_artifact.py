# name: hardlink_artifact
# class: artifact
# tries: bring files from outside into the artifacts as hard links, through descriptors and renames
# expected: other mounts refuse; nothing of the host is collected
# outcome: ok
# after: no-host-file-content,artifact-names-safe,next-cell-clean
# oracle: both
import os
try: os.chdir(artifacts)
except NameError: pass
for source in (os.__file__, "/etc/passwd", "/etc/ld.so.cache", "/dev/null", "/tmp/attack-canary/secret.txt"):
    for label, act in (
        ("link", lambda: os.link(source, "x.txt")),
        ("follow", lambda: os.link(source, "x.txt", follow_symlinks=True)),
        ("rename", lambda: os.rename(source, "x.txt")),
        ("replace", lambda: os.replace("own.txt", source)),
    ):
        open("own.txt", "w").write("own")
        try: act(); print("ESCAPE", label, source)
        except (OSError, NotImplementedError) as e: print("CONTAINED", label, source, e.strerror if isinstance(e, OSError) else e)
