# name: stdout_closed
# class: channel
# tries: close stdout and stderr, then print, raise and flush
# expected: its own problem; the end is still reported
# outcome: ok,error
# after: next-cell-clean,deadline-within-500ms
# oracle: host
import os, sys
print("INFO before", flush=True)
os.close(1); os.close(2)
sys.stdout.write("x" * 100_000)
raise ValueError("nobody hears this")
