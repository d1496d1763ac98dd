# name: stderr_flood
# class: resource
# tries: write 256 MB to stderr, some of it through logging
# expected: counted with stdout, cut and marked
# outcome: output_limit,ok
# after: stdout-truncated-marked,supervisor-memory-flat,deadline-within-500ms
# oracle: host
import logging, os, sys
logging.basicConfig(); logging.error("E" * 600_000)
print("o" * 600_000)
for i in range(256): os.write(2, b"e" * 1_000_000)
