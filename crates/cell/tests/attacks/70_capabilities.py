# name: capabilities
# class: kernel
# tries: gain capabilities, ambient or through a new user namespace, and other groups
# expected: none is gained
# outcome: ok,crash
# after: next-cell-clean
# arch: x86_64
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
header = (ctypes.c_uint * 2)(0x20080522, 0)
data = (ctypes.c_uint * 6)(*[0xffffffff] * 6)
for label, call in (
    ("capset", lambda: libc.syscall(126, header, data)),
    ("ambient", lambda: libc.prctl(47, 2, 21, 0, 0)),
    ("bounding", lambda: libc.prctl(24, 21, 0, 0, 0)),
    ("unshare user", lambda: libc.unshare(0x10000000)),
    ("setgroups", lambda: libc.setgroups(1, (ctypes.c_uint * 1)(0))),
    ("setresgid", lambda: libc.setresgid(0, 0, 0)),
    ("mknod", lambda: libc.mknod(b"/work/disk", 0o60666, 0x800)),
):
    print("ESCAPE" if call() == 0 else "CONTAINED", label, os.strerror(ctypes.get_errno()))
libc.setfsuid(0)
print("ESCAPE fsuid" if libc.setfsuid(0) == 0 and os.getuid() != 0 else "CONTAINED fsuid")
