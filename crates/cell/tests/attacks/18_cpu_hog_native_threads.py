# name: cpu_hog_native_threads
# class: resource
# tries: keep every processor busy from forty threads that hold no interpreter lock
# expected: killed at the deadline; the host and its neighbours keep their share
# outcome: timeout
# after: deadline-within-500ms,neighbour-unharmed,no-leftover-process
# limits: wall=1s
# oracle: host
import hashlib, threading
def burn():
    while True: hashlib.pbkdf2_hmac("sha512", b"x", b"y", 10_000_000)
for i in range(40): threading.Thread(target=burn).start()
burn()
