# name: threads_with_own_descriptors
# class: resource
# tries: have threads that share memory but not the table of descriptors, so that each fills socket buffers of its own
# expected: clone is refused for anything but a whole thread, and no call takes the table apart afterwards
# outcome: ok
# after: neighbour-unharmed,next-cell-clean
# oracle: both
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
THREAD = 0x3d0f00
# Without shared descriptors, folders, signals or memory; with a table of its own; as a child of the parent.
for label, flags in (("files", THREAD & ~0x400), ("fs", THREAD & ~0x200), ("bare", 0x10900), ("sysv", THREAD & ~0x40000),
                     ("process", 17), ("vfork", 0x4111), ("namespace", THREAD | 0x20000), ("untraced", THREAD | 0x800000)):
    got = libc.syscall(56, ctypes.c_ulong(flags), 0, 0, 0, 0)
    print("CONTAINED" if got == -1 and ctypes.get_errno() == 1 else "ESCAPE", label, got)
    if got == 0: os._exit(0)
def apart():
    # close_range with the flag that copies the table first, with and without the one for the next program; unshare.
    for label, number, arguments in (("close_range", 436, (250, 250, 2)), ("close_range, at exec", 436, (250, 250, 6)),
                                     ("close_range of all above", 436, (200, 0xffffffff, 2)), ("unshare", 272, (0x400, 0, 0))):
        got = libc.syscall(number, *arguments)
        print("CONTAINED" if got == -1 and ctypes.get_errno() == 1 else "ESCAPE", label, got)
thread = threading.Thread(target=apart); thread.start(); thread.join()
print("CONTAINED closing works" if libc.syscall(436, 250, 250, 0) == 0 else "ESCAPE descriptors cannot be closed")
done = []
thread = threading.Thread(target=lambda: done.append(1)); thread.start(); thread.join()
print("CONTAINED threads work" if done else "ESCAPE no threads")
