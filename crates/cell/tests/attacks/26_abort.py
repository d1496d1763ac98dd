# name: abort
# class: resource
# tries: os.abort with core files switched on as far as possible
# expected: reported as crash, no core file anywhere
# outcome: crash
# after: no-core-file,next-cell-clean,no-leftover-process
# oracle: host
import ctypes, os, resource
try: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
except (OSError, ValueError) as e: print("CONTAINED", e)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)          # PR_SET_DUMPABLE
print("INFO abort", flush=True)
os.abort()
