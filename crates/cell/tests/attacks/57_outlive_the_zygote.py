# name: outlive_the_zygote
# class: process
# tries: take back the death signal, become a subreaper or session leader, and stop being killable
# expected: none of it is allowed; the cell dies with its supervisor's will
# outcome: ok,crash
# after: no-leftover-process,next-cell-clean
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for label, option, value in (("PDEATHSIG", 1, 0), ("CHILD_SUBREAPER", 36, 1), ("DUMPABLE", 4, 1), ("KEEPCAPS", 8, 1), ("SECCOMP", 22, 1), ("PTRACER", 0x59616d61, -1), ("TSC", 26, 2), ("SECUREBITS", 28, 0x2f)):
    print("ESCAPE" if libc.prctl(option, value, 0, 0, 0) == 0 else "CONTAINED", label, os.strerror(ctypes.get_errno()))
for label, act in (("setsid", os.setsid), ("setpgid", lambda: os.setpgid(0, 0)), ("oom", lambda: open("/proc/self/oom_score_adj", "w").write("-1000"))):
    try: act(); print("ESCAPE", label)
    except OSError as e: print("CONTAINED", label, e.strerror)
