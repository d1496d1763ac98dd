# name: multiprocessing
# class: process
# tries: processes, pools and managers of multiprocessing and concurrent.futures, in every start method
# expected: refused with an exception that can be caught, and nothing hangs
# outcome: ok,error,process_limit
# after: no-leftover-process,next-cell-clean,deadline-within-500ms
# limits: wall=5s
# oracle: both
import concurrent.futures, multiprocessing, os
for method in ("fork", "spawn", "forkserver"):
    try:
        process = multiprocessing.get_context(method).Process(target=os.getpid); process.start(); process.join(1)
        print("ESCAPE process by", method, process.exitcode)
    except Exception as e: print("CONTAINED", method, type(e).__name__, e)
for label, act in (("pool", lambda: multiprocessing.Pool(2)), ("manager", multiprocessing.Manager), ("executor", lambda: concurrent.futures.ProcessPoolExecutor(2).submit(os.getpid).result(1))):
    try: print("ESCAPE", label, act())
    except Exception as e: print("CONTAINED", label, type(e).__name__, e)
