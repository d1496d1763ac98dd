# name: memory_page_tables
# class: resource
# tries: use up kernel memory for page tables by reading one byte in every 2 MiB of an empty read-only mapping
# expected: the mapping is refused, or page tables are counted and stopped
# outcome: ok,memory_limit
# after: neighbour-unharmed,next-cell-clean
# limits: wall=10s
# oracle: both
import mmap
STEP, TABLES = 2 << 20, 1 << 17      # each table is a page: half a gibibyte of them
size, touched = STEP << 14, 0
kept = []
try:
    while touched < TABLES:
        piece = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
        kept.append(piece)
        for at in range(0, size, STEP): piece[at]
        touched += size // STEP
    print("ESCAPE made page tables of MiB", touched >> 8)
except (OSError, MemoryError, ValueError) as e: print("CONTAINED at MiB", touched >> 8, e)
