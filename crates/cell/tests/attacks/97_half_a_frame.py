# name: half_a_frame
# class: channel
# tries: announce a frame as large as allowed, send half of it, and wait
# expected: nothing is reserved ahead; the deadline or the rules of the wire end it
# outcome: timeout,protocol_error
# after: deadline-within-500ms,supervisor-memory-flat,next-cell-clean
# limits: wall=1s
# oracle: host
import os, struct, time
data = struct.pack("<I", 32 << 20) + b"T" + b" " * (16 << 20)
while data: data = data[os.write(3, data):]
time.sleep(60)
