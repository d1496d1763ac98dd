# name: forge_calls
# class: channel
# tries: make host calls with forged names, arguments, kinds and nesting on the wire itself
# expected: refused or a broken wire; nothing that the host owns repeats them
# outcome: ok,error,protocol_error
# after: result-not-forged,next-cell-clean,log-escaped,deadline-within-500ms
# oracle: host
import json, os, stat, struct
def wires():
    found = []
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode): found.append(fd)
        except OSError: pass
    return found
calls = (
    {"name": "FORGED\n\x1b[2J\u202e", "arguments": {}},
    {"name": "commit", "arguments": {"FORGED": ["FORGED"] * 100}},
    {"name": "x" * 100_000, "arguments": {"a": None}},
)
try:
    import ordain
    for call in calls:
        try: print("ESCAPE", ordain.call(call["name"], **call["arguments"]))
        except Exception as e: print("CONTAINED", type(e).__name__, str(e)[:80])
except ImportError: pass
for fd in wires():
    for call in calls:
        body = json.dumps(call).encode()
        os.write(fd, struct.pack("<I", len(body)) + b"C" + body)
