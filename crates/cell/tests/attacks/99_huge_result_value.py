# name: huge_result_value
# class: channel
# tries: give back a list of millions of numbers, small on the wire and large once read
# expected: bounded before it is unfolded; the host's memory stays flat
# outcome: ok,error,protocol_error
# after: supervisor-memory-flat,next-cell-clean,deadline-within-500ms
# limits: wall=10s
# oracle: host
import os, struct
body = b'{"exit":0,"error":null,"values":{"answer_json":[' + b"0," * 15_000_000 + b'0]},"notes":{}}'
data = memoryview(struct.pack("<I", len(body)) + b"T" + body)
while data: data = data[os.write(3, data):]
