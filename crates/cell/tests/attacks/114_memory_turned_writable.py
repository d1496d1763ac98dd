# name: memory_turned_writable
# class: resource
# tries: reserve 1 GiB read-only, where limits do not count it, and make it writable afterwards
# expected: it is counted when it becomes writable
# outcome: ok,memory_limit,crash
# after: next-cell-clean
# oracle: both
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 1 << 30
for label, flags in (("private", 0x22), ("noreserve", 0x4022), ("growsdown", 0x122), ("stack", 0x20022)):
    address = libc.mmap(None, size, 1, flags, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value): print("CONTAINED", label, os.strerror(ctypes.get_errno())); continue
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 3) == 0:
        for at in range(0, size, 4096): ctypes.memset(address + at, 1, 1)
        print("ESCAPE", label)
    else: print("CONTAINED", label, os.strerror(ctypes.get_errno()))
