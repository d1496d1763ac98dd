# name: call_flood
# class: channel
# tries: keep the host so busy with calls, sent ahead of the answers but never too many, that it forgets the deadline
# expected: dropped for it, or stopped at the deadline
# outcome: timeout,protocol_error
# after: deadline-within-500ms,supervisor-memory-flat,next-cell-clean,neighbour-unharmed
# limits: wall=1s
# oracle: host
import os, struct
body = b'{"name":"x","arguments":{}}'
frame = struct.pack("<I", len(body)) + b"C" + body
os.write(3, frame)
answer = os.read(3, 4096)
burst, size = frame * 64, len(answer) * 64
for i in range(2): os.write(3, burst)
while True:
    got = 0
    while got < size: got += len(os.read(3, size - got))
    os.write(3, burst)
