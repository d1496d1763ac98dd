# name: kill_everyone
# class: process
# tries: kill(-1), kill(0), every process and thread number, and signals queued by number
# expected: nobody outside the cell hears of it
# outcome: ok,crash,no_result
# after: no-leftover-process,neighbour-unharmed,next-cell-clean
# oracle: host
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
for target in (-1, 0, -os.getpid(), 2, 3, 7, os.getppid()):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        try: os.kill(target, number); print("INFO signalled", target, int(number), flush=True)
        except OSError as e: print("CONTAINED", target, e.strerror)
try: os.killpg(0, signal.SIGKILL)
except OSError as e: print("CONTAINED", e.strerror)
for number in range(2, 64):
    for call in (lambda: libc.syscall(200, number, 9), lambda: libc.syscall(234, number, number, 9)): call()
print("INFO alive", flush=True)
