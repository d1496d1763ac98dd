import contextlib
import functools
import time


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            print(f"{function.__name__}: {time.perf_counter() - start:.6f}s")

    return wrapper


@contextlib.contextmanager
def section(title):
    print(f"-- {title}")
    yield
    print("--")


@timed
def work(n):
    return sum(i * i for i in range(n))


with section("squares"):
    print(work(1000))
