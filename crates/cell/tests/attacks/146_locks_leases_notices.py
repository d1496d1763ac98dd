# name: locks_leases_notices
# class: state
# tries: reach other processes through files that all see: locks of every kind, leases, notices of changes, owners of signals
# expected: locks do nothing, the rest is refused
# outcome: ok
# after: neighbour-unharmed,next-cell-clean
# oracle: both
import fcntl, os, struct
path = "/etc/ld.so.cache" if os.path.exists("/etc/ld.so.cache") else os.__file__
first, second = os.open(path, os.O_RDONLY), os.open(path, os.O_RDONLY)
lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 1 << 40, 1, 0)
ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 40, 1, 0)
fcntl.fcntl(first, fcntl.F_SETLK, lock)
# Locks that belong to an open file are in the way of the same process too, so they would be seen here.
for label, command, argument in (("open file lock", 37, lock), ("open file lock, waiting", 38, lock), ("open file question", 36, ask),
                                 ("lease", fcntl.F_SETLEASE, fcntl.F_RDLCK), ("notices", fcntl.F_NOTIFY, 1), ("owner", fcntl.F_SETOWN, os.getpid()),
                                 ("owner of threads", 15, struct.pack("ii", 0, 1)), ("signal", 10, 1), ("hint", 1038, struct.pack("q", 5)), ("seals", 1033, 1)):
    try: fcntl.fcntl(first, command, argument); print("ESCAPE", label)
    except OSError as error: print("CONTAINED", label, error.strerror)
fcntl.flock(first, fcntl.LOCK_EX)
try: fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB); print("CONTAINED a lock of the whole file does nothing")
except OSError: print("ESCAPE a lock of the whole file is held")
