# name: signal_handlers
# class: process
# tries: catch faults, raise from timers inside the runner, and block every signal
# expected: a fault still ends it; the deadline holds
# outcome: timeout,crash,error
# after: deadline-within-500ms,no-core-file,next-cell-clean
# limits: wall=1s
# oracle: host
import ctypes, faulthandler, signal
for number in range(1, 65):
    try: signal.signal(number, lambda *a: None)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
ctypes.string_at(0)
while True: pass
