# name: shared_memory
# class: state
# tries: shared memory, semaphores and queues of every kind, named so that another cell could find them
# expected: refused, or private to the cell
# outcome: ok
# after: pair-isolated,next-cell-clean,no-leftover-process
# oracle: both
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
def attempt(label, act):
    try: print("INFO made", label, act())
    except Exception as e: print("CONTAINED", label, type(e).__name__, e)
def module():
    from multiprocessing import shared_memory
    try: return shared_memory.SharedMemory("attack", create=True, size=64)
    except FileExistsError: print("ESCAPE another cell's shared memory"); raise
def lock():
    from multiprocessing import Lock
    return Lock()
attempt("shared_memory", module)
attempt("lock", lock)
for label, number, arguments in (("shmget", 29, (4711, 1 << 20, 0o1666)), ("semget", 64, (4711, 1, 0o1666)), ("msgget", 68, (4711, 0o1666)), ("mq_open", 240, (b"attack", 0o102, 0o666, 0))):
    result = libc.syscall(number, *arguments)
    print("INFO made" if result >= 0 else "CONTAINED", label, os.strerror(ctypes.get_errno()))
for path in ("/dev/shm/attack-pair", "/tmp/attack-pair", "/work/attack-pair", "/var/tmp/attack-pair"):
    print("ESCAPE another cell was here" if os.path.exists(path) else "CONTAINED", path)
    try: open(path, "w").write("x")
    except OSError as e: print("CONTAINED", path, e.strerror)
time.sleep(0.5)
