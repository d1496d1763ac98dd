# name: output_after_the_end
# class: resource
# tries: let threads print without end while the main thread comes to its end
# expected: what is kept stays within the limit; the end is not held up
# outcome: ok,output_limit
# after: deadline-within-500ms,supervisor-memory-flat,no-leftover-process
# oracle: host
import os, threading
def chatter():
    while True: os.write(1, b"chatter " * 100 + b"\n")
for i in range(8): threading.Thread(target=chatter, daemon=True).start()
