# Compiles every module of the folder named by the first argument to bytecode, and says how far it is: a line
# `DONE TOTAL` now and then, the last one with both numbers equal.
#
# A cell can't write bytecode, so a module that is missed here is compiled again in every cell that imports it. The
# bytecode is of the unchecked kind: nothing edits an installed profile, and a copy with other file times stays valid.
# Modules of a package's own tests are left out: cells don't import them, and they are a third of the work.
import compileall
import functools
import os
import py_compile
import sys
import warnings

TESTS = ("tests", "test", "__pycache__")


def modules(site):
    for folder, folders, names in os.walk(site):
        folders[:] = [name for name in folders if name not in TESTS]
        for name in names:
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def results(compile_one, paths):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if cores > 1 and len(paths) > 200:
        try:
            from concurrent.futures import ProcessPoolExecutor

            pool = ProcessPoolExecutor(min(cores, 8))
        except (ImportError, OSError):
            # No semaphores on this machine (no /dev/shm): one process does it all.
            pool = None
        if pool is not None:
            with pool:
                yield from pool.map(compile_one, paths, chunksize=16)
            return
    for path in paths:
        yield compile_one(path)


def main(site):
    warnings.simplefilter("ignore")
    paths = sorted(modules(site))
    # A package may carry a module that doesn't compile (a template, another Python's syntax); it stays as source.
    compile_one = functools.partial(
        compileall.compile_file, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    done = 0
    for done, _ in enumerate(results(compile_one, paths), start=1):
        if done % 50 == 0:
            print(done, len(paths), flush=True)
    print(done, len(paths), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
