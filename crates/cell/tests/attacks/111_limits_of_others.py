# name: limits_of_others
# class: resource
# tries: read and set the resource limits of other processes, and raise its own through every call there is
# expected: its own can only be lowered; nobody else's is reached
# outcome: ok
# after: neighbour-unharmed,next-cell-clean
# oracle: both
import os, resource
for process in {1, 2, 3, os.getppid()} - {0, os.getpid()}:
    try: print("ESCAPE", process, resource.prlimit(process, resource.RLIMIT_NOFILE))
    except OSError as e: print("CONTAINED", process, e.strerror)
for name in dir(resource):
    if not name.startswith("RLIMIT_"): continue
    what = getattr(resource, name); soft, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY: print("INFO no hard limit on", name); continue
    for value in (hard + 1, resource.RLIM_INFINITY):
        try: resource.setrlimit(what, (hard, value)); print("ESCAPE raised", name)
        except (OSError, ValueError, OverflowError) as e: print("CONTAINED", name, e)
