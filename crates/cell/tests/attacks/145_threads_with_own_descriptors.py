# name: threads_with_own_descriptors
# class: resource
# tries: start threads that share memory but not the table of descriptors, so that each fills socket buffers of its own
# expected: clone is refused for anything but a whole thread
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
done = []
thread = threading.Thread(target=lambda: done.append(1)); thread.start(); thread.join()
print("CONTAINED threads work" if done else "ESCAPE no threads")
