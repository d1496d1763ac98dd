# name: leave_environment
# class: state
# tries: leave environment variables, locale, time zone, recursion and digit limits, random seeds and umask changed
# expected: they end with the cell
# outcome: ok
# after: next-cell-clean
# oracle: host
import gc, os, random, sys, time, warnings
os.environ.update({"LD_PRELOAD": "/work/evil.so", "PYTHONPATH": "/work", "PYTHONSTARTUP": "/work/x.py", "TZ": "Pacific/Apia", "HOME": "/"})
time.tzset(); os.umask(0); random.seed(1); gc.disable(); sys.setrecursionlimit(50); warnings.simplefilter("error")
sys.path.insert(0, "/work"); sys.modules["math"] = None
print("INFO left")
