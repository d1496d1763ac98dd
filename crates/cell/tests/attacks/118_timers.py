# name: timers
# class: resource
# tries: a hundred thousand kernel timers that all fire
# expected: bounded by the kernel's own limits; the host does not notice
# outcome: ok,crash,timeout
# after: deadline-within-500ms,neighbour-unharmed,next-cell-clean,no-leftover-process
# limits: wall=2s
# oracle: host
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
fast = (ctypes.c_long * 4)(0, 1000, 0, 1000)
n = 0
for i in range(100_000):
    timer = ctypes.c_void_p()
    if libc.timer_create(1, None, ctypes.byref(timer)): break
    libc.timer_settime(timer, 0, fast, None); n += 1
print("INFO timers", n)
