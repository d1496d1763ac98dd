# name: sys_personality_seccomp
# class: kernel
# tries: personality without address randomisation, own seccomp filters and listeners, arch_prctl and vm86 calls
# expected: every call fails with EPERM/ENOSYS or the cell is killed; never succeeds
# outcome: ok,crash
# after: next-cell-clean
# arch: x86_64
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(b"\x06\x00\x00\x00\x00\x00\xff\x7f")
program = (ctypes.c_ulonglong * 2)(1, ctypes.addressof(allow))
for label, number, arguments in (
    ("personality", 135, (0x0040000,)),
    ("seccomp filter", 317, (1, 0, ctypes.byref(program))),
    ("seccomp listener", 317, (1, 8, ctypes.byref(program))),
    ("seccomp strict", 317, (0, 0, 0)),
    ("landlock", 444, (0, 0, 1)),
    ("modify_ldt", 154, (0, ctypes.create_string_buffer(64), 64)),
    ("uselib", 134, (b"/x",)),
    ("nfsservctl", 180, (0, 0, 0)),
    ("vhangup", 153, ()),
    ("quotactl", 179, (0, b"/", 0, 0)),
    ("lookup_dcookie", 212, (0, 0, 0)),
    ("io_setup", 206, (8, ctypes.byref((ctypes.c_ulong * 1)()))),
    ("open_by_handle_at", 304, (-100, ctypes.create_string_buffer(64), 0)),
    ("name_to_handle_at", 303, (-100, b"/", ctypes.create_string_buffer(b"\x40" + bytes(127)), ctypes.create_string_buffer(4), 0)),
    ("fanotify_init", 300, (0, 0)),
    ("memfd_secret", 447, (0,)),
    ("clock_settime", 227, (0, ctypes.create_string_buffer(16))),
    ("adjtimex", 159, (ctypes.create_string_buffer(512),)),
    ("ioprio_set", 251, (1, 0, 0)),
):
    result = libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    print("ESCAPE" if result != -1 else "CONTAINED", label, result, os.strerror(ctypes.get_errno()))
