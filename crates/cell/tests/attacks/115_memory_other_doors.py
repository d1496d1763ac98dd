# name: memory_other_doors
# class: resource
# tries: brk, mremap, huge pages, locked memory and memory files
# expected: each is counted or refused
# outcome: ok,memory_limit
# after: next-cell-clean
# oracle: both
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
failed = ctypes.c_void_p(-1).value
size = 1 << 30
def tell(label, is_given): print("ESCAPE" if is_given else "CONTAINED", label, os.strerror(ctypes.get_errno()))
tell("sbrk", libc.sbrk(ctypes.c_long(size)) != failed)
small = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
tell("mremap", libc.mremap(ctypes.c_void_p(small), ctypes.c_size_t(4096), ctypes.c_size_t(size), 1) != failed)
tell("huge pages", libc.mmap(None, ctypes.c_size_t(size), 3, 0x40022, -1, ctypes.c_long(0)) != failed)
tell("mlockall", libc.mlockall(3) == 0)
block = ctypes.create_string_buffer(16 << 20)
tell("mlock", libc.mlock(block, ctypes.c_size_t(16 << 20)) == 0)
for flags in (0, 4, 1):
    try: fd = os.memfd_create("m", flags); os.ftruncate(fd, size); os.posix_fallocate(fd, 0, size); tell("memfd", True)
    except OSError as e: print("CONTAINED memfd", e.strerror)
try: fd = os.open("/work", os.O_TMPFILE | os.O_RDWR); os.posix_fallocate(fd, 0, size); tell("unnamed file", True)
except OSError as e: print("CONTAINED unnamed file", e.strerror)
