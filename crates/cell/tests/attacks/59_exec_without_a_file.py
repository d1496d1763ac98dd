# name: exec_without_a_file
# class: process
# tries: run a program from a memory file, a descriptor, the dynamic loader or a script of the cell's own
# expected: no way to execute anything
# outcome: ok
# after: no-leftover-process
# oracle: both
import ctypes, glob, os, sys
code = open(sys.executable or "/usr/bin/python3", "rb").read(1 << 20) if os.path.exists(sys.executable or "") else b"#!/bin/sh\nid\n"
try:
    fd = os.memfd_create("x"); os.write(fd, code); os.execve(fd, ["x"], {}); print("ESCAPE")
except OSError as e: print("CONTAINED memfd", e.strerror)
open("script", "wb").write(b"#!/usr/bin/python3\nprint('ESCAPE ran')\n"); os.chmod("script", 0o755)
for path in ["./script", "/bin/sh", "/usr/bin/python3", sys.executable] + glob.glob("/lib*/ld-linux*") + glob.glob("/lib/*/ld-linux*"):
    try: os.execv(path, [path, "/bin/true"]); print("ESCAPE", path)
    except (OSError, TypeError, ValueError) as e: print("CONTAINED", path, e)
libc = ctypes.CDLL(None, use_errno=True)
print("ESCAPE" if libc.syscall(322, -100, b"./script", 0, 0, 0) == 0 else "CONTAINED", "execveat", os.strerror(ctypes.get_errno()))
