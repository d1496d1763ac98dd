# name: memory_pipes_sockets
# class: resource
# tries: keep memory in the buffers of as many pipes and socket pairs as there can be
# expected: no more than SECURITY.md says: the usual buffer of a socket, and one message more, for each descriptor that a cell may have
# outcome: ok
# after: next-cell-clean
# oracle: both
import fcntl, os, socket
def fill(write):
    total = 0
    try:
        while True: total += write(b"x" * 65536)
    except OSError: return total
def pipes():
    reader, writer = os.pipe(); os.set_blocking(writer, False)
    try: fcntl.fcntl(writer, 1031, 1 << 20)          # F_SETPIPE_SZ
    except OSError: pass
    return [reader, writer], fill(lambda b: os.write(writer, b))
def sockets(kind):
    pair = socket.socketpair(socket.AF_UNIX, kind)
    for end in pair:
        end.setblocking(False)
        for option in (7, 32):                       # SO_SNDBUF, SO_SNDBUFFORCE
            try: end.setsockopt(socket.SOL_SOCKET, option, 1 << 24)
            except OSError: pass
    return [end.detach() for end in pair], 0
usual = socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
for label, make in (("pipes", pipes), ("streams", lambda: sockets(socket.SOCK_STREAM)), ("messages", lambda: sockets(socket.SOCK_SEQPACKET))):
    held, total = [], 0
    try:
        while True:
            made, taken = make(); held += made; total += taken
            if label != "pipes": total += sum(fill(lambda b: os.write(end, b[:32768])) for end in made)
    except OSError: pass
    print("ESCAPE" if total > 256 * (usual + 65536) else "CONTAINED", label, len(held), "descriptors hold MiB", total >> 20)
    for descriptor in held: os.close(descriptor)
