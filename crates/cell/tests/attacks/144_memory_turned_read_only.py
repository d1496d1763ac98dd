# name: memory_turned_read_only
# class: resource
# tries: fill memory, make it read-only, where limits no longer count it, and fill the next piece, up to 1 GiB
# expected: what is filled stays counted, or the cell is stopped
# outcome: ok,memory_limit
# after: neighbour-unharmed,next-cell-clean
# limits: wall=10s
# oracle: both
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
size, kept = 16 << 20, []
try:
    while len(kept) * size < 1 << 30:
        piece = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        view = (ctypes.c_char * size).from_buffer(piece)
        ctypes.memset(view, 1, size)
        if libc.mprotect(view, ctypes.c_size_t(size), mmap.PROT_READ): raise OSError(ctypes.get_errno(), "mprotect")
        kept.append((piece, view))
    print("ESCAPE filled MiB", len(kept) * size >> 20)
except (OSError, MemoryError) as e: print("CONTAINED at MiB", len(kept) * size >> 20, e)
