# name: watch_the_host
# class: kernel
# tries: inotify on shared folders, to see what others read and when
# expected: refused, or nothing to be seen
# outcome: ok,crash
# after: next-cell-clean
# arch: x86_64
# oracle: both
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0o4000)
print("INFO made" if fd >= 0 else "CONTAINED", os.strerror(ctypes.get_errno()))
if fd >= 0:
    for path in (b"/usr/lib", b"/", b"/dev/null", os.__file__.encode()): libc.inotify_add_watch(fd, path, 0xfff)
    time.sleep(1)
    try: print("ESCAPE saw", len(os.read(fd, 1 << 16)))
    except OSError as e: print("CONTAINED", e)
