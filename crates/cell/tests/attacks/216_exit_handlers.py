# name: exit_handlers
# class: allowed
# tries: exit handlers, context managers and finally blocks at the end of a program that calls sys.exit
# expected: all of them run, as in a script, and their output arrives
# outcome: ok
# after: none
# oracle: inband
# prints: handler
# prints: finally
import atexit, sys
atexit.register(print, "handler")
try: sys.exit(0)
finally: print("finally")
