# name: memory_shared_mapping
# class: resource
# tries: touch 1 GiB of anonymous shared memory, which private-memory limits do not count
# expected: refused, or counted and stopped
# outcome: ok,memory_limit
# after: neighbour-unharmed,next-cell-clean
# oracle: both
import mmap
kept = []
try:
    for i in range(64):
        piece = mmap.mmap(-1, 16 << 20)
        for at in range(0, 16 << 20, 4096): piece[at] = 1
        kept.append(piece)
    print("ESCAPE touched 1 GiB")
except (OSError, MemoryError, ValueError) as e: print("CONTAINED at MiB", len(kept) * 16, e)
