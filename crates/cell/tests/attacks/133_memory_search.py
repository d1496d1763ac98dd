# name: memory_search
# class: files
# tries: search the whole heap and stack for the canary without /proc, asking the kernel which pages exist
# expected: the zygote was started with an empty environment, so it is nowhere
# outcome: ok,crash,timeout
# after: no-host-file-content
# limits: wall=10s
# oracle: both
import ctypes, os
needle = b"ATTACK-" + b"CANARY-"
libc = ctypes.CDLL(None, use_errno=True)
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
residency, hits, pages = ctypes.create_string_buffer(1), 0, 0
libc.environ = ctypes.c_void_p.in_dll(libc, "environ")
stack = ctypes.addressof(ctypes.c_char()) if False else libc.environ.value
reader, writer = os.pipe()
for start in {id(object) & ~0xfff, id([]) & ~0xfff, (stack or id(object)) & ~0xfff, ctypes.cast(libc.getenv, ctypes.c_void_p).value & ~0xfff}:
    for direction in (4096, -4096):
        at, gap = start, 0
        for step in range(40_000):
            at += direction
            if at <= 0 or libc.mincore(at, 4096, residency) != 0:
                gap += 1
                if gap > 600: break
                continue
            gap = 0; pages += 1
            if libc.write(writer, ctypes.c_void_p(at), ctypes.c_size_t(4096)) != 4096: continue
            page = os.read(reader, 4096)
            where = page.find(needle)
            if where >= 0 and page[where + 14:where + 15].isalnum(): hits += 1
print("ESCAPE" if hits else "CONTAINED", hits, "pages", pages)
