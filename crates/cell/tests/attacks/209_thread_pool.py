# name: thread_pool
# class: allowed
# tries: thread pools, queues, locks, events, timers and local storage
# expected: works
# outcome: ok
# after: no-leftover-process
# oracle: inband
# prints: 332833500 done
import concurrent.futures, queue, threading
with concurrent.futures.ThreadPoolExecutor(8) as pool: total = sum(pool.map(lambda n: n * n, range(1000)))
words = queue.Queue(); timer = threading.Timer(0.01, words.put, ("done",)); timer.start()
print(total, words.get(timeout=2))
