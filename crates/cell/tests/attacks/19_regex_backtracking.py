# name: regex_backtracking
# class: resource
# tries: a regular expression that never comes back and holds the interpreter lock meanwhile
# expected: killed at the deadline, no matter what the interpreter does
# outcome: timeout
# after: deadline-within-500ms,next-cell-clean
# limits: wall=1s
# oracle: host
import re
re.match(r"(a+)+$", "a" * 64 + "b")
