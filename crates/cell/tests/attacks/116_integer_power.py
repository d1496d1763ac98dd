# name: integer_power
# class: resource
# tries: one arithmetic operation in C that runs for hours, and one that wants all memory
# expected: MemoryError or the deadline
# outcome: timeout,memory_limit
# after: deadline-within-500ms,next-cell-clean
# limits: wall=1s
# oracle: host
try: "%999999999999d" % 1
except (MemoryError, OverflowError, ValueError) as e: print("CONTAINED", type(e).__name__)
try: b"x" * (1 << 62)
except (MemoryError, OverflowError) as e: print("CONTAINED", type(e).__name__)
9 ** 9 ** 9
