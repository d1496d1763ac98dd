"""The runner: what a cell does with its one job, or a session's cell with its many.

Everything here runs beside hostile code once a job has started, in the same process: whatever it then says is a
claim, and the supervisor treats it so. Its purpose is to be quick and to report honestly for honest code.
"""

import atexit
import builtins
import errno
import functools
import io
import json
import linecache
import marshal
import math
import os
import pathlib
import random
import resource
import shutil
import struct
import sys
import tempfile
import threading
import types
import weakref

WIRE = 3
WORK = "/work"
# Files of the host that all cells of a zygote see; crates/cell/src/mount.rs has the same path.
MOUNTS = "/mounts"
# Frame kinds; crates/cell/src/wire.rs has the same list.
READY, FILES, JOB, RESULT, CALL, REPLY = b"R", b"F", b"J", b"T", b"C", b"P"
HEADER = struct.Struct("<Ic")
FRAME_BYTES_MAX = 32 << 20
MESSAGE_CHARACTERS_MAX = 4000
TRACEBACK_FRAMES_MAX = 40
VALUE_DEPTH_MAX = 60
# About how much memory the values may take in the supervisor, which reads a little more; wire.rs counts the same way.
VALUES_BYTES_MAX = 72 << 20
# Rows whose names are looked at.
COLUMNS_FROM = 100
VALUE_BYTES, TEXT_BYTES, LIST_BYTES, MEMBER_BYTES, OBJECT_BYTES = 48, 32, 160, 80, 704
# What is left to report the end of a job that used up its memory: more than one of the arenas that CPython takes from
# the system at once.
RESERVE_BYTES = 4 << 20
# The stack of a thread.
STACK_BYTES = 8 << 20
# Arrow may start so many threads for itself.
ARROW_THREADS_MAX = 16
started_threads = 0

START_BYTES = 0
START_SPACE_BYTES = 0
# Address space beyond the memory limit, for libraries that are loaded and for what allocators only reserve. Memory that
# was filled and then made read-only, and the kernel's own tables for a large empty mapping, count as nothing but this.
SPACE_BYTES = 512 << 20
MOUNTED = {}
REHEARSAL = ""
RESEED = ()
TABLES = None
FRAMES = None
# Raises the memory limit by the reserve. It is made ahead, because when it is needed there is no memory to make it.
OPEN_RESERVE = None

EXIT_DUTIES = None

_received = bytearray()
_piece = bytearray(1 << 16)
_call_lock = threading.Lock()
_awaited = 0


def prepare(settings, tables, frames):
    """Sets, once in the zygote, what all its cells share."""
    global FRAMES, MOUNTED, REHEARSAL, RESEED, SPACE_BYTES, TABLES
    TABLES, FRAMES = tables, frames
    if tables:
        tables.install()
    REHEARSAL = settings["rehearsal"]
    if os.path.isdir(MOUNTS):
        MOUNTED = {name: pathlib.Path(MOUNTS, name) for name in sorted(os.listdir(MOUNTS))}
        # Mapping a file costs address space but no memory of its own, so each may be mapped once on top of the limit.
        SPACE_BYTES += sum(path.stat().st_size for path in MOUNTED.values())
    numpy_random = sys.modules.get("numpy.random")
    # A seed of our own making: numpy's way to find one touches half a megabyte.
    RESEED = (lambda: numpy_random.seed(int.from_bytes(os.urandom(4), "little")),) if numpy_random else ()
    # A smaller stack for each thread, because stacks count as memory.
    threading.stack_size(1 << 20)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    os.environ.update({"HOME": WORK, "TMPDIR": WORK + "/tmp", "LANG": "C.UTF-8"})
    # The zygote runs without `site`, which is what makes these two in an ordinary interpreter.
    builtins.exit = builtins.quit = sys.exit
    module = types.ModuleType("ordain", "What plan code can ask of its host.")
    module.call, module.HostError = call, HostError
    sys.modules["ordain"] = module


class HostError(Exception):
    """The host refused a call, or failed at it. `kind` says which."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


# --- the wire -------------------------------------------------------------------------------------------------------


def send(kind, payload):
    data = memoryview(HEADER.pack(len(payload), kind) + payload)
    while data:
        data = data[os.write(WIRE, data) :]


def receive():
    """The next frame as (kind, payload). The cell ends when the supervisor is gone."""
    while len(_received) < HEADER.size:
        _fill()
    length, kind = HEADER.unpack_from(_received)
    if length > FRAME_BYTES_MAX:
        os._exit(71)
    end = HEADER.size + length
    while len(_received) < end:
        _fill()
    payload = bytes(_received[HEADER.size : end])
    del _received[:end]
    return kind, payload


def _fill():
    # Reading into one piece that is there already touches no new memory.
    length = os.readv(WIRE, (_piece,))
    if not length:
        os._exit(0)
    _received.extend(memoryview(_piece)[:length])


def call(name, /, **arguments):
    """Calls a function of the host and returns its answer; raises HostError when the host refuses."""
    global _awaited
    if type(name) is not str:
        raise TypeError("the name of a host function is a str")
    # Strict about what the wire cannot carry: not-a-number, lone surrogates and unknown types raise here.
    payload = json.dumps({"name": name, "arguments": arguments}, allow_nan=False, ensure_ascii=False).encode()
    if len(payload) > FRAME_BYTES_MAX:
        raise HostError("too_large", f"a call of {len(payload)} bytes is larger than a frame may be")
    with _call_lock:
        # An exception, such as a signal handler's, may have left an earlier call before its answer came.
        while _awaited:
            receive()
            _awaited -= 1
        send(CALL, payload)
        _awaited = 1
        kind, reply = receive()
        _awaited = 0
    if kind != REPLY:
        os._exit(72)
    reply = json.loads(reply)
    if "error" in reply:
        raise HostError(reply["error"]["kind"], reply["error"]["message"])
    return reply["value"]


# --- one job ---------------------------------------------------------------------------------------------------------


def limit(job):
    """Lowers this cell's limits to the job's. A later job of a session cannot raise them again."""
    global OPEN_RESERVE
    if job["memory_bytes"] and job["processes"] < ARROW_THREADS_MAX:
        start_arrow()
    # What Ordain started itself counts for nothing.
    stacks = started_threads * STACK_BYTES
    for what, value, reserve in (
        (resource.RLIMIT_DATA, START_BYTES + job["memory_bytes"] + stacks, RESERVE_BYTES),
        (resource.RLIMIT_AS, START_SPACE_BYTES + job["memory_bytes"] + SPACE_BYTES + stacks, 0),
        (resource.RLIMIT_NPROC, job["processes"] + started_threads, 0),
    ):
        if job["memory_bytes"]:
            lower(what, value, reserve)
        else:
            # A rehearsal asks for no limit, so that the job that follows can have any.
            lower(what, resource.getrlimit(what)[1], 0)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    OPEN_RESERVE = functools.partial(resource.setrlimit, resource.RLIMIT_DATA, (hard, hard))
    if job["cpu_seconds"]:
        lower(resource.RLIMIT_CPU, math.ceil(sum(os.times()[:2])) + job["cpu_seconds"], 0)


def start_arrow():
    """Where few threads are allowed, Arrow gets its own two before they are counted: one that it computes with, and one that
    it reads with. For a thread that it is refused later it may wait without end."""
    global started_threads
    pyarrow = sys.modules.get("pyarrow")
    if started_threads or not hasattr(pyarrow, "ipc"):
        return
    # They would take a third one.
    pyarrow.enable_signal_handlers(False)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    table, written = pyarrow.table({"a": [1], "b": [1]}), io.BytesIO()
    table.to_pandas(use_threads=True)
    with pyarrow.ipc.new_file(written, table.schema) as writer:
        writer.write_table(table)
    # Of what is no memory it reads the end in a thread.
    pyarrow.ipc.open_file(pyarrow.PythonFile(written, "r")).read_all()
    started_threads = 2


def lower(what, value, reserve):
    try:
        resource.setrlimit(what, (value, value + reserve))
    except ValueError:
        # It is lower already, and the supervisor knows.
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (hard - reserve, hard))


def new_namespace():
    """A fresh `__main__`, so that pickling, dataclasses and `if __name__ == "__main__"` work as in a script."""
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    main.artifacts = pathlib.Path(WORK, "artifacts")
    main.files = {}
    main.inputs = {}
    sys.modules["__main__"] = main
    return main.__dict__


def execute(source, compiled, name, namespace):
    """Runs a program. Returns (exit code, error or None, name of the limit behind the error or None)."""
    return guarded(lambda: exec(code_of(source, compiled, name), namespace), name, source)


def code_of(source, compiled, name):
    """A program's code: as another cell has compiled it, which did nothing else, or compiled here and now."""
    return marshal.loads(compiled) if compiled else compile(source, name, "exec", dont_inherit=True)


def compile_only(job, source):
    """The code of a job in the form in which other cells take it. Nothing of it is run."""
    parts = {}

    def work():
        for part, text, name in (("helpers", job["helpers"], "helpers.py"), ("program", source, job["name"])):
            parts[part] = marshal.dumps(code_of(text, b"", name)).hex() if text else ""

    code, error, passed = guarded(work, job["name"])
    return reply_of(code, error, passed, {} if error else parts, {}, [])


def guarded(work, name, source=""):
    """Does something that the program may make fail in any way, and tells how it ended, as `execute` does."""
    try:
        work()
        return 0, None, None
    except SystemExit as stop:
        return exit_code(stop), None, None
    except BaseException as error:
        passed = limit_behind(error)
        if passed == "memory":
            OPEN_RESERVE()
        return 1, describe(error, source, name), passed


def limit_behind(error):
    """The limit that an exception tells of; libraries have classes of their own for it."""
    if isinstance(error, MemoryError) or isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return "memory"
    if type(error).__name__ == "OutOfMemoryException" and type(error).__module__ == "_duckdb":
        return "memory"
    # The reader of CSV files in pandas tells it in words only.
    if isinstance(error, ValueError) and error.args == ("Error tokenizing data. C error: out of memory",):
        return "memory"
    # Python and Arrow say the same whatever was short.
    if isinstance(error, RuntimeError) and error.args == ("can't start new thread",):
        return "processes" if has_room_for_stack(threading.stack_size()) else "memory"
    if type(error).__module__ == "pyarrow.lib" and "Failed to launch worker thread" in str(error):
        return "processes" if has_room_for_stack(STACK_BYTES) else "memory"
    return None


def has_room_for_stack(size):
    import mmap

    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        return False
    return True


def finish():
    """What Python itself does when a program has ended, however it ended: waits for threads that are no daemons, then
    runs exit handlers. A session has not ended, so its threads go on and its handlers never run."""
    try:
        if threading.active_count() > 1:
            threading._shutdown()
        # What the zygote's own imports have registered has nothing to do in most cells, and costs more than most jobs.
        if exit_duties() != EXIT_DUTIES:
            atexit._run_exitfuncs()
    except BaseException as error:
        describe(error, "", "")


def exit_duties():
    """How many exit handlers there are, and how many of the things that the two common ones look after."""
    logging = sys.modules.get("logging")
    return atexit._ncallbacks(), len(logging._handlerList) if logging else 0, len(weakref.finalize._registry)


def exit_code(stop):
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    try:
        print(text_of(stop.code), file=sys.stderr)
    except BaseException:
        pass
    return 1


def describe(error, source, name):
    """Type, message and line of an exception; its traceback goes to stderr, as Python itself would show it."""
    line = None
    try:
        import traceback

        lines = source.splitlines(keepends=True) if isinstance(source, str) else []
        linecache.cache[name] = (len(source), None, lines, name)
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == "<ordain runner>":
            frames = frames.tb_next
        for frame, at in traceback.walk_tb(frames):
            if frame.f_code.co_filename == name:
                line = at
        if isinstance(error, SyntaxError) and error.filename == name:
            line = error.lineno
        error.__traceback__ = frames
        shown = traceback.format_exception(type(error), error, frames, limit=TRACEBACK_FRAMES_MAX)
        sys.stderr.write("".join(shown))
    except BaseException:
        pass
    return {"type": text_of(type(error).__name__), "message": message_of(error), "line": line}


def message_of(error):
    try:
        return text_of(error)
    except BaseException:
        return "the exception has no readable message"


def text_of(value):
    """A bounded text of a value; its own `__str__` may do anything, so the caller guards the call."""
    return clean(str(value)[:MESSAGE_CHARACTERS_MAX])


def clean(text):
    """The text with lone surrogates, which no frame can carry, escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


# --- values ----------------------------------------------------------------------------------------------------------


def collect(namespace, names, keeps_frames):
    """The variables that the job's contract names, as plain data. What does not fit becomes a note, never code.

    Pandas frames in `result` keep their types where a later step gets them as its input.
    """
    values, notes = {}, {}
    budget = [VALUES_BYTES_MAX]
    namespace = {"answer_columns": None} | namespace
    for name in names:
        if name not in namespace:
            continue
        left = budget[0]
        try:
            value = namespace[name]
            if name == "answer_columns" and value is None:
                value = columns_of(namespace.get("answer_rows"))
            values[name] = plain(value, 0, budget, keeps_frames and name == "result")
        except BaseException as error:
            budget[0] = left
            notes[name] = f"{type(error).__name__}: {message_of(error)}"
    return values, notes


def columns_of(rows):
    """The names that rows have, in their order, which the data itself loses on its way."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, dict) for row in rows[:COLUMNS_FROM]):
        return None
    return list(dict.fromkeys(str(name) for row in rows[:COLUMNS_FROM] for name in row))


def plain(value, depth, budget, keeps_frames=False):
    budget[0] -= VALUE_BYTES
    if depth > VALUE_DEPTH_MAX or budget[0] < 0:
        raise ValueError("the value is too deep or too large")
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        budget[0] -= TEXT_BYTES
        return clean(value)
    if kind is int:
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if kind in (list, tuple, set, frozenset):
        budget[0] -= LIST_BYTES
        return [plain(item, depth + 1, budget, keeps_frames) for item in value]
    if isinstance(value, dict):
        budget[0] -= OBJECT_BYTES + MEMBER_BYTES * dict.__len__(value)
        return {clean(str(key)): plain(item, depth + 1, budget, keeps_frames) for key, item in dict.items(value)}
    frame = FRAMES.taken_apart(value) if keeps_frames else None
    return plain(convert(value) if frame is None else frame, depth + 1, budget)


def convert(value):
    """Values of common libraries and the rest of the language, as the plain data that stands for them."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    for method in ("isoformat", "to_dict", "tolist", "item"):
        function = getattr(value, method, None)
        if callable(function):
            return function("records") if method == "to_dict" and hasattr(value, "columns") else function()
    if isinstance(value, (int, float, str)):
        return {int: int, float: float, str: str}[next(k for k in (int, float, str) if isinstance(value, k))](value)
    if type(value).__name__ == "Decimal" and value.is_finite():
        # A number where that has the same digits.
        if value.as_tuple().exponent >= 0:
            return int(value)
        return float(value) if type(value)(repr(float(value))) == value else str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    return str(value)


# --- the life of a cell ----------------------------------------------------------------------------------------------


def main(is_idle):
    """Warms up if it will be idle for a while, then serves one job, or a session's jobs until it is ended."""
    global EXIT_DUTIES
    reseed()
    tempfile._name_sequence = None
    if is_idle:
        rehearse(2)
    namespace = new_namespace()
    EXIT_DUTIES = exit_duties()
    send(READY, b"")
    while True:
        kind, payload = receive()
        if kind == FILES:
            make_files(json.loads(payload))
            send(READY, b"")
            continue
        if kind != JOB:
            os._exit(73)
        if not serve(payload, namespace):
            os._exit(0)


def reseed():
    """Chance that no other job had."""
    random.seed()
    for seed in RESEED:
        seed()


def make_files(names):
    """Makes empty files for the supervisor to fill: only a user of the cell can add files to its work folder."""
    for name in names:
        path = os.path.join(WORK, "data", name)
        if os.path.lexists(path):
            os.unlink(path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def serve(payload, namespace):
    """Runs the job of a frame and sends its result. Whether more jobs may follow."""
    length = struct.unpack_from("<I", payload)[0]
    job = json.loads(payload[4 : 4 + length])
    # The helpers and the program as they were compiled elsewhere, or nothing, and then the source.
    helpers_end = 4 + length + job["compiled"][0]
    program_end = helpers_end + job["compiled"][1]
    compiled = payload[4 + length : helpers_end], payload[helpers_end:program_end]
    source = payload[program_end:].decode("utf-8", "replace")
    limit(job)
    if job["fresh"]:
        start_anew(namespace)
    send(RESULT, compile_only(job, source) if job["compile"] else run(job, source, compiled, namespace))
    return job["session"]


def start_anew(namespace):
    """Forgets what earlier jobs of a session left."""
    namespace.clear()
    namespace.update(new_namespace())
    reseed()
    for entry in os.scandir(WORK + "/artifacts"):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


def run(job, source, compiled, namespace):
    namespace["files"] = MOUNTED | {name: pathlib.Path(WORK, "data", name) for name in job["files"]}
    readings = job["values"].pop("readings", {})
    keeps_frames = "inputs" in job["values"]
    if keeps_frames:
        job["values"]["inputs"] = FRAMES.put_together(job["values"]["inputs"])
    namespace.update(job["values"])
    if job["tables"] or job["frames"] or readings:
        tables = {name: TABLES.Table(call, name) for name in job["tables"]}
        # What is not among this job's files came with an earlier one of the session.
        mounted = {table: namespace["files"].get(name, pathlib.Path(WORK, "data", name)) for table, name in job["frames"].items()}
        namespace["reading_notes"] = []
        namespace["frame"] = FRAMES.framer(mounted, tables, readings, namespace["files"], namespace["reading_notes"])
        namespace["frame"].judged, namespace["frame"].figures = FRAMES.counter(mounted, job["memory_bytes"])
        namespace["sql"] = FRAMES.querier(mounted, tables, readings, namespace["frame"], job["memory_bytes"])
        if tables:
            namespace.update(TABLES.bind(call, tables))
    if job["helpers"]:
        code, error, passed = execute(job["helpers"], compiled[0], "helpers.py", namespace)
        if error:
            return reply_of(code, error, passed, {}, {}, [])
    namespace["__file__"] = name = job["name"]
    code, error, passed = execute(source, compiled[1], name, namespace)
    if job["failing"] and not error:
        code, error, passed = guarded(lambda: FRAMES.settle(namespace, job["failing"]), name)
    if not job["session"]:
        finish()
    values, notes = collect(namespace, job["collect"], keeps_frames) if job["collect"] else ({}, {})
    flush()
    return reply_of(code, error, passed, values, notes, job["collect"])


def reply_of(code, error, passed, values, notes, names):
    result = {"exit": code, "error": error, "limit": passed, "values": values, "notes": notes}
    try:
        payload = json.dumps(result, allow_nan=False).encode()
        if len(payload) <= FRAME_BYTES_MAX:
            return payload
        reason = "the values together are larger than a frame may be"
    except BaseException as error:
        reason = f"{type(error).__name__}: {message_of(error)}"
    OPEN_RESERVE()
    result |= {"values": {}, "notes": dict.fromkeys(names, reason)}
    return json.dumps(result).encode()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


def rehearsal_frame():
    """A frame with the rehearsal, as the supervisor would send it."""
    job = {"name": "main.py", "memory_bytes": 0, "processes": 0, "cpu_seconds": 0}
    job |= {"files": [], "values": {}, "tables": [], "frames": {}, "failing": None, "helpers": "", "collect": [], "session": False, "fresh": False, "compile": False, "compiled": [0, 0]}
    header = json.dumps(job).encode()
    payload = struct.pack("<I", len(header)) + header + REHEARSAL.encode()
    return HEADER.pack(len(payload), JOB) + payload


def rehearse(times):
    """Runs the profile's typical program through the very calls that a job takes, with nowhere to speak to.

    In the zygote, once, it makes the code and data that all cells share. In a cell it touches the pages that a job
    will touch, so that the job finds them its own.
    """
    global WIRE, EXIT_DUTIES
    kept = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    nothing = os.open("/dev/null", os.O_WRONLY)
    for descriptor, _ in kept:
        os.dup2(nothing, descriptor)
    wire, WIRE = WIRE, nothing
    main_module = sys.modules["__main__"]
    namespace = new_namespace()
    EXIT_DUTIES = exit_duties()
    for _ in range(times):
        _received.extend(rehearsal_frame())
        serve(receive()[1], namespace)
    sys.modules["__main__"] = main_module
    WIRE = wire
    for descriptor, copy in kept:
        os.dup2(copy, descriptor)
        os.close(copy)
    os.close(nothing)
