# name: descriptors
# class: files
# tries: find descriptors that were left open: folders of the host, the control socket, other cells' pipes
# expected: stdin from nothing, stdout, stderr and the wire, nothing else
# outcome: ok
# after: no-host-file-content
# oracle: both
import os, stat
for fd in range(1024):
    try: status = os.fstat(fd)
    except OSError: continue
    kind = stat.S_IFMT(status.st_mode)
    expected = {0: stat.S_IFCHR, 1: stat.S_IFIFO, 2: stat.S_IFIFO, 3: stat.S_IFSOCK}
    print("CONTAINED" if expected.get(fd) == kind else "ESCAPE", fd, oct(kind))
for fd in (1, 2):
    try: print("ESCAPE read back", os.read(fd, 10))
    except OSError as e: print("CONTAINED", fd, e.strerror)
