# name: many_small_frames
# class: channel
# tries: flood the wire with empty and tiny frames of every kind
# expected: the first that breaks a rule ends the cell
# outcome: protocol_error
# after: deadline-within-500ms,supervisor-memory-flat,next-cell-clean
# oracle: host
import os, struct, time
flood = b"".join(struct.pack("<I", 0) + bytes([kind]) for kind in range(256))
try:
    for i in range(100_000): os.write(3, flood)
except OSError: pass
time.sleep(60)
