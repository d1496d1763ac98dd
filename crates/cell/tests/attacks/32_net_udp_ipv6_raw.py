# name: net_udp_ipv6_raw
# class: network
# tries: send datagrams over IPv4, IPv6 and raw sockets, and with sendto on whatever is open
# expected: no socket, or no way out
# outcome: ok
# after: no-packet-received
# limits: wall=5s
# oracle: both
import os, socket
for label, family, kind, address in (
    ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 47131)),
    ("udp out", socket.AF_INET, socket.SOCK_DGRAM, ("10.0.0.1", 53)),
    ("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 47131)),
    ("mapped", socket.AF_INET6, socket.SOCK_DGRAM, ("::ffff:127.0.0.1", 47131)),
    ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 47131)),
    ("raw", socket.AF_INET, socket.SOCK_RAW, ("127.0.0.1", 0)),
):
    try:
        with socket.socket(family, kind) as s:
            s.settimeout(0.3)
            if kind == socket.SOCK_STREAM: s.connect(address)
            else: s.sendto(b"attack", address)
            print("INFO sent, into a network of the cell's own at best", label)
    except OSError as e: print("CONTAINED", label, e)
for fd in range(3, 16):
    try:
        s = socket.socket(fileno=os.dup(fd)); s.sendto(b"", "/tmp/attack-canary/canary.sock"); print("ESCAPE sendto on", fd)
    except (OSError, TypeError) as e: print("CONTAINED", fd, e)
