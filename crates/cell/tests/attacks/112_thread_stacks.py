# name: thread_stacks
# class: resource
# tries: keep memory in the stacks of threads, each a gibibyte, and in a main stack without a limit
# expected: refused, or counted and stopped
# outcome: ok,memory_limit,process_limit,crash
# after: next-cell-clean,no-core-file
# oracle: both
import resource, threading, time
try: resource.setrlimit(resource.RLIMIT_STACK, (resource.getrlimit(resource.RLIMIT_STACK)[1],) * 2)
except (OSError, ValueError) as e: print("CONTAINED", e)
threading.stack_size(1 << 30)
n = 0
try:
    for i in range(8): threading.Thread(target=time.sleep, args=(5,), daemon=True).start(); n += 1
    print("ESCAPE GiB of stacks", n)
except (RuntimeError, MemoryError, ValueError) as e: print("CONTAINED after", n, e)
