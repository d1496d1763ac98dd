# name: result_then_stay
# class: channel
# tries: send a well-formed result and go on running as if nothing had happened
# expected: the result is taken as the program's claim, and the cell ends all the same
# outcome: ok,protocol_error
# after: no-leftover-process,next-cell-clean,result-not-forged,deadline-within-500ms
# limits: wall=2s
# oracle: host
import json, os, struct, threading, time
def stay():
    while True: time.sleep(0.01); open("/work/survived", "w").write("x")
threading.Thread(target=stay).start()
body = json.dumps({"exit": 0, "error": None, "values": {"answer_text": "FORGED"}, "notes": {}}).encode()
try: os.write(3, struct.pack("<I", len(body)) + b"T" + body)
except OSError as e: print("CONTAINED", e)
stay()
