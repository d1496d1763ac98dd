# name: decompress_bomb
# class: resource
# tries: decompress 1 GiB in memory with zlib, bz2 and lzma
# expected: MemoryError or memory_limit, however long it takes
# outcome: ok,memory_limit
# after: neighbour-unharmed,next-cell-clean
# limits: wall=300s
# oracle: both
import bz2, lzma, zlib
zeros = bytes(8 << 20)
for name, module in (("zlib", zlib), ("bz2", bz2), ("lzma", lzma)):
    one = module.compress(zeros)
    if name == "zlib":
        c = zlib.compressobj(1); bomb = b"".join(c.compress(zeros) for _ in range(128)) + c.flush()
    else: bomb = one * 128
    try: print("ESCAPE", name, len(module.decompress(bomb)))
    except MemoryError: print("CONTAINED", name, len(bomb))
