# name: memory_uncaught
# class: resource
# tries: grow a list until memory is used up, and catch nothing
# expected: the cause is the memory limit, not just any error
# outcome: memory_limit
# after: next-cell-clean,neighbour-unharmed
# limits: wall=10s
# oracle: host
kept = []
while True: kept.append(bytearray(1 << 20))
