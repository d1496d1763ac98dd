# name: memory_pipes_sockets
# class: resource
# tries: keep memory in the buffers of as many pipes and socket pairs as there can be
# expected: the number of descriptors and the size of buffers bound it
# outcome: ok
# after: next-cell-clean
# oracle: both
import fcntl, os, socket
total, kept = 0, []
def fill(write):
    global total
    try:
        while True: total += write(b"x" * 65536)
    except OSError: pass
try:
    while total < 256 << 20:
        reader, writer = os.pipe(); os.set_blocking(writer, False)
        try: fcntl.fcntl(writer, 1031, 1 << 20)          # F_SETPIPE_SZ
        except OSError as e: pass
        fill(lambda b: os.write(writer, b))
        pair = socket.socketpair(); kept.append(pair)
        for end in pair: end.setblocking(False); fill(end.send)
    print("ESCAPE MiB in kernel buffers", total >> 20)
except OSError as e: print("CONTAINED MiB", total >> 20, e)
for pair in kept:
    for end in pair: end.close()
