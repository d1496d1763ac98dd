"""A workspace's folder: the server that holds it, or one of its own that ends with this process.

The program itself says which of the two it is (`ordain serve --for-client`). A server of its own listens on a socket in a
folder of this user alone, and ends when its stdin does, which the system closes however this process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any, cast

from ._client import AsyncOrdain, Ordain
from ._errors import NotFound, NotStarted, ProgramMissing
from ._wire import Wire

#: How long the program may take to say where it listens, in seconds: the first time it sets up a Python of its own.
START_TIME = 300.0
#: How long a server of its own may take to let running work end.
END_TIME = 45.0
#: What is read of where it listens, and of what it says when it does not start.
LINE_BYTES_MAX = 64 << 10


class Workspace(Ordain):
    """A workspace by its folder. It attaches to the server that holds the folder, or starts one and ends it.

    `key` is for a server that needs one, `program` the path of `ordain` where it is not on the search path.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] = ".",
        *,
        key: str | None = None,
        model: str | None = None,
        program: str | os.PathLike[str] | None = None,
    ) -> None:
        path = Path(folder).expanduser().absolute()
        if not path.is_dir():
            hint = "`ordain init` makes a workspace; a relative path begins at the current folder"
            raise NotFound("no_workspace", f"there is no folder `{path}`", hint)
        self._folder, self._key, self._program = path, key, find_program(program)
        self._turn = threading.Lock()
        self._server = _Server(self._program, path)
        super().__init__(self._server.url, key=key, model=model)

    @property
    def folder(self) -> Path:
        """The workspace's folder."""
        return self._folder

    def close(self) -> None:
        """Ends the server, if it is one of its own: running work may end first."""
        super().close()
        self._server.end()

    def _wire(self, was_lost: bool) -> Wire:
        with self._turn:
            if was_lost and not self._server.answers():
                self._one_wire.close()
                self._server.end()
                self._server = _Server(self._program, self._folder)
                self._one_wire = Wire(self._server.url, self._key)
            return self._one_wire

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._folder)!r})"


class AsyncWorkspace(AsyncOrdain):
    """The same as `Workspace`, to be awaited. It is made in the moment that it is entered: `async with AsyncWorkspace(…)`
    or `await AsyncWorkspace.open(…)`."""

    def __init__(
        self,
        folder: str | os.PathLike[str] = ".",
        *,
        key: str | None = None,
        model: str | None = None,
        program: str | os.PathLike[str] | None = None,
    ) -> None:
        self._over(Workspace(folder, key=key, model=model, program=program))


class _Server:
    """The server of a folder: somebody else's, or a process of this one's."""

    def __init__(self, program: str, folder: Path) -> None:
        place = _private_folder()
        self._end: weakref.finalize[Any, Any] = weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        command = [program, "serve", "--for-client", "--json", "--log", "off", "--no-ui"]
        command += ["--listen", f"unix:{place / 'socket'}", "--workspace", str(folder)]
        try:
            with (place / "log").open("wb") as log:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
                )
        except OSError as error:
            self._end()
            raise ProgramMissing("program_missing", f"`{program}` cannot be started: {error}") from error
        try:
            announced = _announcement(process)
        except BaseException:
            _stop(process, os.getpid(), place)
            raise
        if announced is None:
            failure = _failure(place / "log")
            _stop(process, os.getpid(), place)
            raise failure
        self.url: str = announced["url"]
        if "served_by" not in announced:
            self._end.detach()
            self._end = weakref.finalize(self, _stop, process, os.getpid(), place)

    def answers(self) -> bool:
        """Whether somebody takes requests there."""
        wire = Wire(self.url, None)
        try:
            return wire.exchange("GET", "/healthz", None, {}, 5.0).status == 200
        except Exception:
            return False
        finally:
            wire.close()

    def end(self) -> None:
        """Ends it, if it is this process's own."""
        self._end()


def _announcement(process: subprocess.Popen[bytes]) -> dict[str, str] | None:
    """What the program says about where it listens; nothing if it ends without a word."""
    assert process.stdout is not None
    line, until = b"", time.monotonic() + START_TIME
    while not line.endswith(b"\n") and len(line) < LINE_BYTES_MAX:
        left = until - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            raise NotStarted("not_started", f"the server did not start within {START_TIME:.0f} s")
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            return None
        line += piece
    try:
        announced = json.loads(line)
        if isinstance(announced["url"], str):
            return cast(dict[str, str], announced)
    except (ValueError, TypeError, KeyError):
        pass
    raise NotStarted("not_started", "the program does not say where it listens", "is it `ordain`, and a current one?")


def _failure(log: Path) -> NotStarted:
    """The program's own words about why it does not serve."""
    with log.open("rb") as file:
        lines = file.read(LINE_BYTES_MAX).decode(errors="replace").splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
    message = "; ".join(errors) or "\n".join(lines[-3:]) or "the server ended without a word"
    return NotStarted("not_started", message, "; ".join(hints) or None)


def _stop(process: subprocess.Popen[bytes], owner: int, place: Path) -> None:
    """Lets the server end, in the process that started it. A forked one has a copy of this and no say."""
    if os.getpid() != owner:
        return
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(END_TIME)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(place, ignore_errors=True)


def _private_folder() -> Path:
    """A new folder of this user alone, with a short path: the name of a socket has at most 107 bytes."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if parent and len(os.fsencode(parent)) <= 70:
            with contextlib.suppress(OSError):
                return Path(tempfile.mkdtemp(prefix="ordain-", dir=parent))
    raise NotStarted("not_started", "there is no folder for a socket", "set TMPDIR to one with a short path")


def find_program(named: str | os.PathLike[str] | None = None) -> str:
    """The program `ordain`: the one that is named, `ORDAIN_PROGRAM`, that of the package `ordain-bin`, or of the search path."""
    chosen = named or os.environ.get("ORDAIN_PROGRAM")
    if chosen:
        found = shutil.which(os.fspath(chosen))
        if found is None:
            raise ProgramMissing("program_missing", f"there is no program `{os.fspath(chosen)}`")
        return found
    for scheme in (None, sysconfig.get_preferred_scheme("user")):
        scripts = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        if found := shutil.which("ordain", path=scripts):
            return found
    if found := shutil.which("ordain"):
        return found
    hint = "pip install ordain-bin, put `ordain` on the search path, or name it in ORDAIN_PROGRAM"
    raise ProgramMissing("program_missing", "the program `ordain` is not on this machine", hint)
