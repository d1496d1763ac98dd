# name: proc_tricks
# class: files
# tries: reach the host through magic links in /proc: root, cwd, fd and map_files of every process
# expected: no /proc, or one that shows only the cell
# outcome: ok
# after: no-host-file-content
# oracle: both
import os
for base in ["/proc/self", "/proc/thread-self", "/proc/1", "/proc/2", f"/proc/{os.getppid()}", "/dev/fd/..", "/proc/self/task/1"]:
    for link in ("root", "cwd", "root/..", "cwd/../../.."):
        path = f"{base}/{link}/tmp/attack-canary/secret.txt"
        try: print("ESCAPE", path, len(open(path).read()))
        except OSError as e: print("CONTAINED", path, e.strerror)
for path in ("/proc/self/mem", "/proc/self/maps", "/proc/self/mountinfo", "/proc/cmdline", "/proc/net/tcp", "/sys/class/net", "/proc/keys", "/proc/timer_list"):
    print("INFO visible" if os.path.exists(path) else "CONTAINED", path)
