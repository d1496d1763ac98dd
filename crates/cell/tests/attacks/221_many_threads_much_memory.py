# name: many_threads_much_memory
# class: allowed
# tries: forty threads that allocate at once, beside 150 MB of data within a limit of 256 MiB
# expected: works: what threads only reserve does not count
# outcome: ok
# after: no-leftover-process
# limits: wall=10s
# oracle: inband
# prints: 40 150000000
import hashlib, threading, zlib
barrier, done = threading.Barrier(40), []
def work():
    barrier.wait()
    pieces = [zlib.compress(bytes(100_000)) for _ in range(5)]
    done.append(hashlib.sha256(b"".join(pieces)).digest())
threads = [threading.Thread(target=work) for _ in range(40)]
for t in threads: t.start()
for t in threads: t.join()
data = bytearray(150_000_000)
print(len(done), len(data))
