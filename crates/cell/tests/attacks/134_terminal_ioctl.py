# name: terminal_ioctl
# class: kernel
# tries: push characters into a terminal, and other device controls, on every descriptor
# expected: no terminal, and the calls are refused
# outcome: ok,crash
# after: next-cell-clean,neighbour-unharmed
# oracle: both
import fcntl, os
for fd in range(4):
    for label, request, argument in (("TIOCSTI", 0x5412, b"x"), ("TIOCLINUX", 0x541c, b"\x0b"), ("FIFREEZE", 0xc0045877, b"\0" * 4), ("SIOCGIFCONF", 0x8912, b"\0" * 16), ("FICLONE", 0x40049409, b"\0" * 4), ("TIOCSCTTY", 0x540e, b"\0" * 4), ("FS_IOC_SETFLAGS", 0x40086602, b"\0" * 8)):
        try: fcntl.ioctl(fd, request, argument); print("ESCAPE", fd, label)
        except OSError as e: print("CONTAINED", fd, label, e.strerror)
    for label, command, value in (("SETOWN", fcntl.F_SETOWN, 1), ("SETSIG", 10, 9), ("NOTIFY", 1026, 1), ("SETLEASE", 1024, 1)):
        try: fcntl.fcntl(fd, command, value); print("INFO", fd, label)
        except OSError as e: print("CONTAINED", fd, label, e.strerror)
