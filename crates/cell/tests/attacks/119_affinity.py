# name: affinity
# class: resource
# tries: bind forty busy threads to one processor, in every scheduling class that is offered
# expected: harmless: neighbours keep their share
# outcome: timeout,ok
# after: neighbour-unharmed,deadline-within-500ms
# limits: wall=1s
# oracle: both
import hashlib, os, threading
try: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print("INFO bound")
except OSError as e: print("CONTAINED", e)
for name in ("SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_IDLE"):
    try: os.sched_setscheduler(0, getattr(os, name), os.sched_param(1 if name in ("SCHED_FIFO", "SCHED_RR") else 0)); print("ESCAPE" if name in ("SCHED_FIFO", "SCHED_RR") else "INFO", name)
    except OSError as e: print("CONTAINED", name, e.strerror)
for act in (lambda: os.setpriority(os.PRIO_PROCESS, 0, -20), lambda: os.setpriority(os.PRIO_USER, 0, -20)):
    try: act(); print("ESCAPE priority")
    except OSError as e: print("CONTAINED", e.strerror)
def burn():
    while True: hashlib.sha512(bytes(1 << 20))
for i in range(40): threading.Thread(target=burn).start()
