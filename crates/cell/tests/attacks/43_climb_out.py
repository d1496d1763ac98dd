# name: climb_out
# class: files
# tries: climb out of the root: dot-dot, directory descriptors, links, chroot, renamed folders, openat2-like races
# expected: the root is a mount of its own with nothing above it
# outcome: ok
# after: no-host-file-content,no-artifact-outside
# oracle: both
import os
def look(label):
    for path in ("tmp/attack-canary/secret.txt", "etc/shadow", "root/.ssh", "root/.bashrc", "var/lib", "usr/bin", "proc/self", "sys/kernel"):
        if os.path.exists(path): print("ESCAPE", label, os.getcwd(), path)
    print("CONTAINED", label, sorted(os.listdir(".")))
root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
for i in range(64): os.chdir("..")
look("dot-dot")
os.fchdir(root); os.chdir("../../../.."); look("descriptor")
try: os.makedirs("/work/jail/deep/deeper"); os.chroot("/work/jail"); os.fchdir(root); look("chroot")
except OSError as e: print("CONTAINED chroot", e)
try:
    os.chdir("/work/jail/deep/deeper"); os.rename("/work/jail/deep", "/work/moved"); os.chdir("../../../.."); look("moved")
except OSError as e: print("CONTAINED", e)
os.symlink("/", "/work/link"); os.chdir("/work/link/.."); look("link")
for name in (".old", "oldroot", "old_root", "put_old", "host", "mnt", ".pivot"):
    print("ESCAPE" if os.path.exists("/" + name) else "CONTAINED", name)
