# name: sockets_in_flight
# class: resource
# tries: send full sockets into other sockets and close them here, so that their buffers live on beyond the number of descriptors
# expected: nothing but bytes goes into a socket
# outcome: ok
# after: neighbour-unharmed,next-cell-clean
# oracle: both
import array, ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
carrier, other = socket.socketpair()
full, peer = socket.socketpair()
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [full.fileno(), peer.fileno()]))]
try: carrier.sendmsg([b"x"], rights); print("ESCAPE sent a descriptor")
except OSError as error: print("CONTAINED sendmsg", error.strerror)
try: other.recvmsg(1, 64, socket.MSG_DONTWAIT); print("ESCAPE asked for one")
except OSError as error: print("CONTAINED recvmsg", error.strerror)
# The same by the calls that take many messages, and through a socket's own number.
for label, number, arguments in (("sendmmsg", 307, (carrier.fileno(), 0, 1, 0)), ("recvmmsg", 299, (other.fileno(), 0, 1, 0, 0)),
                                 ("pidfd_getfd", 438, (0, 0, 0)), ("io_uring", 425, (1, 0))):
    got = libc.syscall(number, *arguments)
    print("ESCAPE" if got >= 0 else "CONTAINED", label, os.strerror(ctypes.get_errno()))
