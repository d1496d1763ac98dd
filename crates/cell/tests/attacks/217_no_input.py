# name: no_input
# class: allowed
# tries: read from standard input, which is empty
# expected: ends at once, as with an empty file
# outcome: ok
# after: none
# oracle: inband
# prints: '' EOFError
import sys
first = sys.stdin.read()
try: input(); word = "something"
except EOFError: word = "EOFError"
print(repr(first), word)
