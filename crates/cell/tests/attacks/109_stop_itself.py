# name: stop_itself
# class: process
# tries: stop itself, so that nothing it does can end
# expected: killed at the deadline all the same
# outcome: timeout,ok
# after: deadline-within-500ms,no-leftover-process
# limits: wall=1s
# oracle: host
import signal
signal.raise_signal(signal.SIGSTOP)
print("INFO still here")
