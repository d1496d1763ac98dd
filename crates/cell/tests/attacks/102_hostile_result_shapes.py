# name: hostile_result_shapes
# class: channel
# tries: results with wrong types, doubled keys, numbers beyond measure, deep nesting and broken text
# expected: each is a broken wire; the first one ends it
# outcome: protocol_error
# after: next-cell-clean,supervisor-memory-flat,result-not-forged
# oracle: host
import os, random, struct, time
shapes = (
    b'{"exit":99999999999,"error":null,"values":{},"notes":{}}',
    b'{"exit":0,"exit":1,"error":null,"values":{},"notes":{}}',
    b'{"exit":0,"error":{"type":1,"message":[],"line":-1},"values":{},"notes":{}}',
    b'{"exit":0,"error":null,"values":{"a":1e999},"notes":{}}',
    b'{"exit":0,"error":null,"values":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b'},"notes":{}}',
    b'{"exit":0,"error":null,"values":{"a":"\xff\xfe"},"notes":{}}',
    b'{"exit":0,"error":null,"values":{"a":"\\ud83d"},"notes":{}}',
    b'{"exit":0,"error":null,"values":{},"notes":{},"cause":"FORGED"}',
    b'[]', b'', b'null', b'{}',
)
body = random.choice(shapes)
os.write(1, b"INFO " + body[:60].replace(b"\n", b" ") + b"\n")
data = struct.pack("<I", len(body)) + b"T" + body
while data: data = data[os.write(3, data):]
time.sleep(60)
