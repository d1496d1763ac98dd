# name: sys_int80
# class: kernel
# tries: 32-bit system calls through int 0x80 in machine code of the program's own
# expected: the filter knows the architecture: killed or ENOSYS
# outcome: crash,ok
# after: no-core-file,next-cell-clean
# arch: x86_64
# oracle: both
import ctypes, mmap
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")          # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
print("ESCAPE" if result > 0 else "CONTAINED", result)
