# name: spawn_variants
# class: process
# tries: every other way to start a program: posix_spawn, popen, pty, a shell, fork in a thread
# expected: refused with an exception that can be caught
# outcome: ok
# after: no-leftover-process,next-cell-clean
# oracle: both
import os, pty, subprocess, threading
for label, act in (
    ("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {})),
    ("posix_spawnp", lambda: os.posix_spawnp("true", ["true"], {})),
    ("spawnv", lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]) == 0 or 1 / 0),
    ("forkpty", os.forkpty),
    ("pty", pty.fork),
    ("shell", lambda: subprocess.check_output("id", shell=True)),
    ("popen", lambda: os.popen("id").read() or 1 / 0),
    ("getoutput", lambda: subprocess.getoutput("id").startswith("uid") or 1 / 0),
):
    try: print("ESCAPE", label, act())
    except (Exception, SystemExit) as e: print("CONTAINED", label, type(e).__name__, e)
def in_thread():
    try: print("ESCAPE fork in a thread", os.fork())
    except OSError as e: print("CONTAINED", e)
thread = threading.Thread(target=in_thread); thread.start(); thread.join()
