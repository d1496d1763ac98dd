# name: sleep_in_thread
# class: resource
# tries: come to the end of the program while a thread sleeps for ever
# expected: the interpreter waits for the thread, the deadline does not
# outcome: timeout
# after: deadline-within-500ms,no-leftover-process
# limits: wall=1s
# oracle: host
import threading, time
threading.Thread(target=time.sleep, args=(10**6,)).start()
print("INFO the main thread is done")
