# name: shared_pages
# class: state
# tries: change objects in memory that all cells of a zygote share: a small number, a string, a built-in function
# expected: the pages are copied on writing; the next cell does not notice
# outcome: ok,crash,error,no_result,protocol_error
# after: next-cell-clean,neighbour-unharmed,no-core-file
# oracle: host
import ctypes, sys
def poke(thing, offset, data): ctypes.memmove(id(thing) + offset, data, len(data))
print("INFO poking", flush=True)
poke("marker", sys.getsizeof("") - 1, b"x")
poke(45, 24, (46).to_bytes(4, "little"))
ctypes.memset(id(sum) + 16, 0, 8)
