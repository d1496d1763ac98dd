# name: names_of_the_host
# class: kernel
# tries: change the host's name, domain and clock
# expected: refused
# outcome: ok,crash
# after: next-cell-clean
# oracle: both
import ctypes, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
for label, act in (("sethostname", lambda: socket.sethostname("pwned")), ("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))):
    try: act(); print("ESCAPE", label)
    except OSError as e: print("CONTAINED", label, e.strerror)
print("ESCAPE" if libc.setdomainname(b"pwned", 5) == 0 else "CONTAINED", "setdomainname")
