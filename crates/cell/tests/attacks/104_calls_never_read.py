# name: calls_never_read
# class: channel
# tries: make calls and never read the answers, so that the host has to keep them
# expected: a second call before the answer is taken breaks the rules; memory stays flat
# outcome: protocol_error,timeout
# after: deadline-within-500ms,supervisor-memory-flat,next-cell-clean
# limits: wall=2s
# oracle: host
import os, struct
body = b'{"name":"' + b"n" * 4000 + b'","arguments":{}}'
frame = struct.pack("<I", len(body)) + b"C" + body
while True:
    rest = frame
    while rest: rest = rest[os.write(3, rest):]
