# name: close_wire_late
# class: channel
# tries: close the wire just before the deadline, to win the time in which the host waits for the end
# expected: the deadline holds
# outcome: timeout,no_result,protocol_error
# after: deadline-within-500ms,no-leftover-process
# limits: wall=1s
# oracle: host
import os, time
time.sleep(0.9)
os.closerange(3, 256)
while True: pass
