# name: huge_error
# class: channel
# tries: claim an exception whose type and message have 15 MB each, on the wire itself
# expected: bounded; the host's memory stays flat
# outcome: ok,error,protocol_error
# after: supervisor-memory-flat,log-escaped,next-cell-clean,result-not-forged
# limits: wall=10s
# oracle: host
import os, struct
body = b'{"exit":1,"error":{"type":"' + b"T" * 15_000_000 + b'","message":"' + b"\\u001b" * 2_500_000 + b'","line":1},"values":{},"notes":{}}'
data = memoryview(struct.pack("<I", len(body)) + b"T" + body)
while data: data = data[os.write(3, data):]
