# name: net_families
# class: network
# tries: netlink, packet, vsock, crypto, bluetooth, CAN, TIPC and XDP sockets: each a large piece of kernel
# expected: every family is refused
# outcome: ok
# after: no-packet-received
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, family, kind in (("netlink", 16, 3), ("packet", 17, 3), ("vsock", 40, 1), ("alg", 38, 5), ("bluetooth", 31, 3), ("can", 29, 3), ("tipc", 30, 1), ("rds", 21, 5), ("xdp", 44, 3), ("smc", 43, 1), ("qrtr", 42, 2), ("key", 15, 3)):
    fd = libc.socket(family, kind, 0)
    print("ESCAPE" if fd >= 0 else "CONTAINED", name, os.strerror(ctypes.get_errno()))
for family in (2, 10, 16):
    pair = (ctypes.c_int * 2)()
    print("ESCAPE" if libc.socketpair(family, 1, 0, pair) == 0 else "CONTAINED", "pair of family", family)
