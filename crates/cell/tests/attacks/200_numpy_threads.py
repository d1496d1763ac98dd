# name: numpy_threads
# class: allowed
# tries: numpy in several threads, with linear algebra
# expected: works
# outcome: ok
# after: no-leftover-process
# oracle: inband
# prints: 8 [3.0, 3.0]
import threading
import numpy as np
results = []
def work(seed): results.append(np.linalg.norm(np.random.default_rng(seed).random((200, 200)) @ np.eye(200)))
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(len(results), np.linalg.solve(np.eye(2) * 2, [6, 6]).tolist())
