# name: splice_to_wire
# class: kernel
# tries: move bytes with splice, tee, vmsplice, sendfile and copy_file_range into the wire and out of read-only files
# expected: refused, or plain garbage on the wire
# outcome: ok,protocol_error,crash
# after: supervisor-memory-flat,next-cell-clean,data-unchanged
# arch: x86_64
# oracle: both
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe(); os.write(writer, b"x" * 4096)
library = os.open(os.__file__, os.O_RDONLY)
for label, number, arguments in (
    ("splice", 275, (reader, None, 3, None, 4096, 2)),
    ("tee", 276, (reader, writer, 64, 2)),
    ("vmsplice", 278, (writer, ctypes.create_string_buffer(16), 0, 0)),
    ("copy_file_range", 326, (library, None, library, None, 10, 0)),
):
    print("INFO", label, libc.syscall(number, *arguments), os.strerror(ctypes.get_errno()))
try: os.sendfile(3, library, 0, 4096)
except OSError as e: print("CONTAINED", e)
