import queue
import threading

jobs = queue.Queue()
results = []


def worker():
    while True:
        job = jobs.get()
        if job is None:
            break
        results.append(job * job)
        jobs.task_done()


threads = [threading.Thread(target=worker) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(5):
    jobs.put(number)
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print(sorted(results))
