# name: raw_clone
# class: process
# tries: make processes with raw fork, vfork, clone and clone3 system calls, past every wrapper
# expected: each is refused; only threads can be made
# outcome: ok,process_limit,crash
# after: no-leftover-process,next-cell-clean
# arch: x86_64
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
SIGCHLD, VM, NEWUSER, PARENT = 17, 0x100, 0x10000000, 0x8000
arguments = (ctypes.c_ulonglong * 11)(NEWUSER, 0, 0, 0, SIGCHLD)
for label, call in (
    ("fork", lambda: libc.syscall(57)),
    ("clone", lambda: libc.syscall(56, SIGCHLD, 0, 0, 0, 0)),
    ("clone parent", lambda: libc.syscall(56, SIGCHLD | PARENT, 0, 0, 0, 0)),
    ("clone newuser", lambda: libc.syscall(56, SIGCHLD | NEWUSER, 0, 0, 0, 0)),
    ("clone3", lambda: libc.syscall(435, arguments, 88)),
):
    result = call()
    if result == 0:
        os._exit(0)          # the child
    print("ESCAPE" if result > 0 else "CONTAINED", label, os.strerror(ctypes.get_errno()))
