# name: refusals_can_be_caught
# class: allowed
# tries: ask for the network, a process and a host file, and go on when each is refused
# expected: ordinary exceptions, then a normal end
# outcome: ok
# after: none
# oracle: inband
# prints: PermissionError PermissionError FileNotFoundError done
import os, socket
def refused(act):
    try: act(); return "nothing"
    except OSError as e: return type(e).__name__
print(refused(socket.socket), refused(os.fork), refused(lambda: open("/root/.ssh/id_rsa")), "done")
