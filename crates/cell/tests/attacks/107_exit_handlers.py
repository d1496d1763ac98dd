# name: exit_handlers
# class: channel
# tries: run on in exit handlers, finalizers and threads started by them
# expected: the deadline holds for them too
# outcome: ok,timeout,error
# after: deadline-within-500ms,no-leftover-process
# limits: wall=1s
# oracle: host
import atexit, threading, time, weakref
class Late:
    def __del__(self): threading.Thread(target=time.sleep, args=(60,)).start()
late = Late()
atexit.register(lambda: time.sleep(60))
weakref.finalize(late, time.sleep, 60)
threading._register_atexit(lambda: threading.Thread(target=time.sleep, args=(60,)).start())
