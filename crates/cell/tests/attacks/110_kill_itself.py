# name: kill_itself
# class: process
# tries: kill itself with the signal that the out-of-memory killer uses, to be reported as something else
# expected: refused, or reported as the crash that it is
# outcome: crash,ok,error
# after: next-cell-clean
# oracle: host
import os, signal, threading
for act in (lambda: os.kill(os.getpid(), 9), lambda: signal.raise_signal(9), lambda: signal.pthread_kill(threading.get_ident(), 9)):
    try: act(); print("INFO survived", flush=True)
    except OSError as e: print("CONTAINED", e, flush=True)
