# name: sys_ptrace_memory
# class: kernel
# tries: ptrace, process_vm_readv and writev, pidfd_open and pidfd_getfd, kcmp, on every near process
# expected: every call fails with EPERM/ENOSYS or the cell is killed; never succeeds
# outcome: ok,crash
# after: next-cell-clean,neighbour-unharmed
# arch: x86_64
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(4096)
class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
local, remote = Piece(ctypes.addressof(buffer), 4096), Piece(ctypes.addressof(buffer), 4096)
for process in {1, 2, os.getppid(), os.getpid() + 1}:
    for label, number, arguments in (
        ("ptrace attach", 101, (16, process, 0, 0)),
        ("ptrace seize", 101, (0x4206, process, 0, 0)),
        ("vm_readv", 310, (process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)),
        ("vm_writev", 311, (process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)),
        ("pidfd_open", 434, (process, 0)),
        ("kcmp", 312, (process, process, 0, 0, 0)),
        ("process_madvise", 440, (0, ctypes.byref(local), 1, 21, 0)),
        ("move_pages", 279, (process, 0, 0, 0, 0, 0)),
    ):
        result = libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
        print("ESCAPE" if result != -1 else "CONTAINED", label, process, os.strerror(ctypes.get_errno()))
print("ESCAPE" if libc.syscall(101, 0, 0, 0, 0) == 0 else "CONTAINED", "traceme")
