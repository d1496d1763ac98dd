"""The zygote: a CPython process that enters its jail once and is then forked into cells.

The supervisor starts it with an empty environment and hands it one message on the control socket: a JSON text and
the descriptors of this text, the lockdown library, the runner's source and the configuration of the jail. Everything that costs
time is done here, once: imports, rehearsals, the root, the bulk of the system-call filter. `ordain_serve` then forks
cells from Rust; only the children come back to Python.
"""

import ctypes
import gc
import importlib
import json
import os
import sys
import types


def read_all(descriptor):
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0)
    os.close(descriptor)
    return data


def fail(control, packed):
    """Reports a packed failure (step above sixteen bits of error number) as the lockdown library would."""
    step, errno = packed >> 16, packed & 0xFFFF
    message = bytes([ord("x"), step, 0, 0]) + errno.to_bytes(4, "little") + bytes(40)
    try:
        os.write(control, message)
    finally:
        # At once, even if the supervisor is gone: an ordinary exit would wait for locks that PyOS_BeforeFork took.
        os._exit(1)


def give_way_to_child(child):
    """The outer process only waits: it holds no descriptor, so that the zygote's end is seen at once."""
    os.closerange(0, 256)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def import_modules(names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise SystemExit(f"cannot import {name}: {error}") from error


def load(name, filename, source):
    module = types.ModuleType(name)
    exec(compile(source, filename, "exec"), module.__dict__)
    return module


def require_one_thread(proc_folder):
    """Forking a process with more than one thread is unsafe: the copy would inherit locks nobody releases."""
    tasks = os.open("self/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc_folder)
    count = len(os.listdir(tasks))
    os.close(tasks)
    if count != 1:
        raise SystemExit(f"an imported library started a thread: {count} threads where 1 may be")


def memory_at_start(proc_folder):
    """The private writable memory and the address space that every cell starts with; limits count from there."""
    descriptor = os.open("self/status", os.O_RDONLY, dir_fd=proc_folder)
    with open(descriptor, encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    data, stack, space = (int(fields[name].split()[0]) * 1024 for name in ("VmData", "VmStk", "VmSize"))
    return data + stack, space


def words(data):
    """A filter as the array of 64-bit instructions that the kernel reads; the array must outlive the process."""
    return (ctypes.c_uint64 * (len(data) // 8)).from_buffer_copy(data), len(data) // 8


def start(control_socket, text, descriptors):
    settings = json.loads(text)
    library, runner_source, tables_source, reading_source, frames_source, entries, zygote_filter, cell_filter = descriptors
    lockdown = ctypes.PyDLL(f"/proc/self/fd/{library}")
    os.close(library)
    lockdown.ordain_enter.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lockdown.ordain_enter.restype = ctypes.c_int64
    filter_arguments = [ctypes.c_void_p, ctypes.c_size_t]
    lockdown.ordain_serve.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint32, *filter_arguments, *filter_arguments]
    lockdown.ordain_serve.restype = ctypes.c_int64

    control = os.dup(control_socket.detach())
    os.set_inheritable(control, False)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sources = (runner_source, tables_source, reading_source, frames_source, entries)
    runner_source, tables_source, reading_source, frames_source, entries = map(read_all, sources)
    zygote_filter, cell_filter = words(read_all(zygote_filter)), words(read_all(cell_filter))

    proc_folder = lockdown.ordain_enter(entries, len(entries))
    if proc_folder < 0:
        fail(control, -proc_folder)
    # The process namespace made above begins with the next child, which becomes its process 1: when that one ends,
    # the kernel ends every cell with it.
    child = os.fork()
    if child:
        give_way_to_child(child)
    lockdown.ordain_die_with_parent()

    sys.path[:] = [path for path in sys.path if path] + settings["paths"]
    import_modules(settings["imports"])
    runner = load("ordain_runner", "<ordain runner>", runner_source)
    tables = load("ordain_tables", "<ordain tables>", tables_source) if "tinydb" in sys.modules else None
    # Programs of Ordain itself import it: those that look into files, and the one that makes tables of them.
    sys.modules["ordain_reading"] = reading = load("ordain_reading", "<ordain reading>", reading_source)
    if "pandas" in sys.modules:
        reading.keep_exact()
    frames = load("ordain_frames", "<ordain frames>", frames_source)
    runner.prepare(settings, tables, frames)
    runner.rehearse(settings["rehearsals"])
    gc.collect()
    gc.freeze()
    require_one_thread(proc_folder)
    runner.START_BYTES, runner.START_SPACE_BYTES = memory_at_start(proc_folder)

    # The zygote never runs Python again, so the import lock that this takes is released only in the cells.
    ctypes.pythonapi.PyOS_BeforeFork()
    after_fork = ctypes.pythonapi.PyOS_AfterFork_Child
    code = lockdown.ordain_serve(control, proc_folder, settings["options"], *zygote_filter, *cell_filter)
    if code < 0:
        fail(control, -code)
    after_fork()
    try:
        runner.main(is_idle=code == 1)
    finally:
        os._exit(70)


def take_name(name):
    """How `ps` shows this process and its cells."""
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(name)


# The line that runs this text has received the three names that it does not define, and the text as the first descriptor.
take_name("ordain-zygote")
os.close(descriptors[0])
start(control_socket, text, descriptors[1:])
