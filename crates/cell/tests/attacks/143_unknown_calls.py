# name: unknown_calls
# class: kernel
# tries: every system call number from 0 to 600 with harmless zero arguments, but those that end or block the caller
# expected: each answers with an error or does something harmless; nothing of the host changes
# outcome: ok,crash,no_result,error,protocol_error,timeout
# after: next-cell-clean,neighbour-unharmed,no-leftover-process,no-artifact-outside,no-core-file
# arch: x86_64
# oracle: host
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
leave_out = {0, 1, 3, 15, 24, 34, 60, 61, 231, 247, 130, 7, 23, 270, 271, 232, 281, 441, 202, 219, 12, 11, 10, 9, 25, 13, 14, 218, 273, 334, 335, 336, 158}
allowed = []
for number in range(601):
    if number in leave_out: continue
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    if result != -1: allowed.append(number)
os.write(1, b"INFO answered without an error: %s\n" % str(allowed).encode())
