"""A server of Ordain, to be called from threads (`Ordain`) or awaited (`AsyncOrdain`)."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, cast
from urllib.parse import quote

from ._check import Report
from ._errors import Conflict, OrdainError, StillRunning
from ._models import RowEvent, RunRecord, TableInfo
from ._rows import Rows
from ._run import AsyncRun, Run
from ._wire import Deadline, Reply, Wire, send

if TYPE_CHECKING:
    import pandas

#: How long one request waits for its run before the run is asked for anew, in seconds.
WAIT = 30.0
#: How often a run that goes on is asked for, in seconds: soon at first, then less often.
ASK_AGAIN = (0.05, 1.0)
#: Rows in one page of a table.
PAGE = 500
#: Bytes of files with one request; more than that no server takes.
FILES_BYTES_MAX = 46 << 20
#: Requests of an `AsyncOrdain` that go on at once; others wait.
THREADS = 64

#: What a file is given as: its content, the path of one on this machine, or a frame.
File = "bytes | str | os.PathLike[str] | pandas.DataFrame"

#: The state that a decision leads to: a decision whose reply was lost is looked up by it.
_LEADS_TO = {"approve": ("committed",), "reject": ("rejected",), "undo": ("undone",)}

P = ParamSpec("P")
T = TypeVar("T")


class Ordain:
    """A server. Threads may share it; what changes something is carried out once, also when its reply is lost.

    `key` is a key of the server, where it needs one, and `model` who writes plans unless a call says otherwise.
    """

    def __init__(self, url: str, *, key: str | None = None, model: str | None = None) -> None:
        self._model = model
        self._one_wire = Wire(url, key)

    # Requests.

    def ask(
        self,
        request: str,
        *,
        dry_run: bool = False,
        hold: bool = False,
        plan: str | None = None,
        model: str | None = None,
        strategy: str | None = None,
        conversation: str | None = None,
        check: bool = True,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Run:
        """Asks something of the tables, and waits for the run.

        `dry_run` shows what would change, `hold` keeps the change for approval, `plan` is Python that is run in place of a
        plan that is written. With `check=False` a run that was declined or failed is given back in place of raised.
        """
        body = {
            "request": request,
            "dry_run": dry_run,
            "hold": hold,
            "plan": plan,
            "model": model or self._model,
            "strategy": strategy,
            "conversation": conversation,
        }
        return self._run("/v1/requests", body, check, key, timeout)

    def code(
        self,
        request: str,
        files: Mapping[str, Any] | list[str | os.PathLike[str]] | None = None,
        *,
        plan: str | None = None,
        model: str | None = None,
        session: str | None = None,
        check: bool = True,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Run:
        """Asks a question about files. `files` are paths, or names with content: bytes, text, a path or a frame."""
        body = {
            "request": request,
            "files": _uploads(files),
            "plan": plan,
            "model": model or self._model,
            "session": session,
        }
        return self._run("/v1/code", body, check, key, timeout)

    def exec(
        self,
        code: str,
        files: Mapping[str, Any] | list[str | os.PathLike[str]] | None = None,
        *,
        profile: Literal["core", "data", "full"] | None = None,
        time_limit: str | None = None,
        memory: str | None = None,
        session: str | None = None,
        check: bool = True,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Run:
        """Runs Python in a cell, which sees the given files and nothing else: no tables, no network.

        `time_limit` ("5s") and `memory` ("256MiB") bound the code; `timeout` is how long this call waits for it.
        """
        body = {
            "code": code,
            "files": _uploads(files),
            "profile": profile,
            "timeout": time_limit,
            "memory": memory,
            "session": session,
        }
        return self._run("/v1/exec", body, check, key, timeout)

    def check(
        self,
        *select: str,
        if_changed: bool = False,
        frozen: bool = False,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Report:
        """Runs the workspace's checks: all, or those that terms such as `id:CHK-002` or `severity:high` select."""
        body = {"select": list(select), "if_changed": if_changed, "frozen": frozen}
        until, key = Deadline(timeout), key or _new_key()
        while True:
            reply = self._begun("/v1/checks/run", body, until, key)
            if reply.status == 200:
                return Report(reply.json())
            # The report of a run that has ended is the reply to the same request.
            self._ended(reply.json()["run_id"], until)

    # Runs.

    def run(self, run: str) -> Run:
        """One run, by its id or the beginning of it."""
        return Run(self._record(run), self)

    def runs(self, *, state: str | None = None, limit: int | None = None) -> Iterator[Run]:
        """Runs, the newest first; those of one state, and at most so many, if that is said."""
        path = "/v1/runs" + (f"?state={quote(state, safe='')}&" if state else "?")
        for record in self._listed(path, "runs", limit):
            yield Run(record, self)

    # Tables.

    def tables(self) -> dict[str, Table]:
        """The tables, by name."""
        found = self._get("/v1/tables").json()["tables"]
        return {info["name"]: Table(info, self) for info in found}

    def table(self, name: str) -> Table:
        """One table."""
        tables = self.tables()
        if name not in tables:
            raise OrdainError("unknown_table", f"there is no table `{name}`", f"there are {', '.join(tables) or 'none'}")
        return tables[name]

    # The server.

    def version(self) -> dict[str, str]:
        """What the server is."""
        return cast(dict[str, str], self._get("/version").json())

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._wire(False).url

    def close(self) -> None:
        """Closes its connections."""
        self._one_wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._one_wire.url!r})"

    # What requests have in common.

    def _wire(self, was_lost: bool) -> Wire:
        """The way to the server."""
        return self._one_wire

    def _get(self, path: str) -> Reply:
        return send(self._wire, "GET", path, until=Deadline(None))

    def _listed(self, path: str, name: str, limit: int | None) -> Iterator[Any]:
        """The items of a list, page by page."""
        cursor, left = "", limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            page = self._get(f"{path}limit={size}{cursor}").json()
            yield from page[name]
            left = None if left is None else left - len(page[name])
            if not page.get("next_cursor"):
                return
            cursor = f"&cursor={quote(page['next_cursor'], safe='')}"

    def _run(self, path: str, body: dict[str, Any], check: bool, key: str | None, timeout: float | None) -> Run:
        until = Deadline(timeout)
        body = {name: value for name, value in body.items() if value is not None and value is not False}
        reply = self._begun(path, body, until, key or _new_key())
        record: RunRecord = reply.json()
        if reply.status == 202:
            record = self._ended(record["run_id"], until)
        run = Run(record, self)
        if check:
            run.raise_if_failed()
        return run

    def _begun(self, path: str, body: Any, until: Deadline, key: str) -> Reply:
        """The reply to a request that begins a run, whether this sending began it or an earlier one."""
        while True:
            try:
                return send(self._wire, "POST", path, body, until=until, key=key, wait=WAIT)
            except Conflict as conflict:
                if conflict.code != "still_running" or conflict.run_id is None:
                    raise
                self._ended(conflict.run_id, until)

    def _ended(self, run: str, until: Deadline) -> RunRecord:
        """The record of a run, once it has ended."""
        pause, longest = ASK_AGAIN
        while (record := self._record(run))["state"] == "running":
            if until.is_over():
                hint = f"`run({run!r})` asks for it, `run({run!r}).cancel()` ends it"
                raise StillRunning("still_running", f"the run {run} goes on", hint, run_id=run)
            until.sleep(pause)
            pause = min(longest, pause * 1.5)
        return record

    def _record(self, run: str) -> RunRecord:
        return cast(RunRecord, self._get(f"/v1/runs/{quote(run, safe='')}").json())

    def _replied(self, run: str, words: str, timeout: float | None) -> RunRecord:
        until = Deadline(timeout)
        path = f"/v1/runs/{quote(run, safe='')}/answer"
        reply = send(self._wire, "POST", path, {"answer": words}, until=until, wait=WAIT)
        return self._ended(run, until) if reply.status == 202 else cast(RunRecord, reply.json())

    def _decide(self, run: str, verb: str, body: dict[str, Any] | None) -> RunRecord:
        path = f"/v1/runs/{quote(run, safe='')}/{verb}"
        try:
            return cast(RunRecord, send(self._wire, "POST", path, body, until=Deadline(None)).json())
        except OrdainError as error:
            if error.status is not None or error.code != "unreachable":
                raise
            # Whether it was carried out before its reply was lost, the run itself tells.
            record = self._record(run)
            if record["state"] in _LEADS_TO.get(verb, ()):
                return record
            raise

    def _file(self, run: str, name: str) -> bytes:
        return self._get(f"/v1/runs/{quote(run, safe='')}/artifacts/{quote(name, safe='')}").body


class Table:
    """A table of the workspace."""

    def __init__(self, info: TableInfo, client: Ordain) -> None:
        self.info: TableInfo = info
        self._client = client

    @property
    def name(self) -> str:
        """Its name."""
        return self.info["name"]

    @property
    def columns(self) -> dict[str, str]:
        """The types of its columns, by name."""
        return {column["name"]: column["type"] for column in self.info["columns"]}

    @property
    def key(self) -> list[str]:
        """The columns that tell its rows apart."""
        return self.info["key"]

    def rows(self, limit: int | None = None) -> Rows:
        """Its rows, in the order in which they were added."""
        path = f"/v1/tables/{quote(self.name, safe='')}/rows?"
        return Rows(self._client._listed(path, "rows", limit), list(self.columns))

    def history(self, row: Any, limit: int | None = None) -> list[RowEvent]:
        """What happened to one row, the newest first: when, by whom, by which run, and what it was before and after.

        `row` is the row's key; of a key of several columns, a tuple of its values.
        """
        name = ",".join(str(part) for part in row) if isinstance(row, tuple) else str(row)
        path = f"/v1/tables/{quote(self.name, safe='')}/rows/{quote(name, safe='')}/history?"
        return list(self._client._listed(path, "events", limit))

    @property
    def df(self) -> pandas.DataFrame:
        """All of its rows as a frame."""
        return self.rows().df

    def __len__(self) -> int:
        return self.info["rows"]

    def __repr__(self) -> str:
        return f"<Table {self.name}: {', '.join(f'{name} {kind}' for name, kind in self.columns.items())}>"


def _awaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[AsyncOrdain, P], Awaitable[T]]:
    """The same method of the client for threads, to be awaited."""

    @wraps(method)
    async def awaited(self: AsyncOrdain, *args: P.args, **kwargs: P.kwargs) -> T:
        return cast(T, await self._in_thread(method, self._client, *args, **kwargs))

    return cast("Callable[Concatenate[AsyncOrdain, P], Awaitable[T]]", awaited)


def _awaited_run(method: Callable[Concatenate[Any, P], Run]) -> Callable[Concatenate[AsyncOrdain, P], Awaitable[AsyncRun]]:
    """The same method of the client for threads, to be awaited, with a run whose decisions are awaited too."""

    @wraps(method)
    async def awaited(self: AsyncOrdain, *args: P.args, **kwargs: P.kwargs) -> AsyncRun:
        return AsyncRun(await self._in_thread(method, self._client, *args, **kwargs), self)

    return cast("Callable[Concatenate[AsyncOrdain, P], Awaitable[AsyncRun]]", awaited)


class AsyncOrdain:
    """The same as `Ordain`, to be awaited."""

    def __init__(self, url: str, *, key: str | None = None, model: str | None = None) -> None:
        self._over(Ordain(url, key=key, model=model))

    def _over(self, client: Ordain) -> None:
        self._client = client
        # Its own threads: the loop's few would let a burst of requests wait for one another.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ordain")

    ask = _awaited_run(Ordain.ask)
    code = _awaited_run(Ordain.code)
    exec = _awaited_run(Ordain.exec)
    run = _awaited_run(Ordain.run)
    check = _awaited(Ordain.check)
    tables = _awaited(Ordain.tables)
    table = _awaited(Ordain.table)
    version = _awaited(Ordain.version)

    async def runs(self, *, state: str | None = None, limit: int | None = None) -> list[AsyncRun]:
        """See `Ordain.runs`; here as a list."""
        runs: list[Run] = await self._in_thread(lambda: list(self._client.runs(state=state, limit=limit)))
        return [AsyncRun(run, self) for run in runs]

    async def close(self) -> None:
        """See `Ordain.close`."""
        await self._in_thread(self._client.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _in_thread(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **kwargs))


def _new_key() -> str:
    return f"py-{uuid.uuid4().hex}"


def _uploads(files: Mapping[str, Any] | list[str | os.PathLike[str]] | None) -> list[dict[str, str]] | None:
    """Files as a request takes them."""
    if not files:
        return None
    if not isinstance(files, Mapping):
        files = {Path(path).name: Path(path) for path in files}
    contents = {name: _content(name, file) for name, file in files.items()}
    size = sum(len(content) for content in contents.values())
    if size > FILES_BYTES_MAX:
        raise OrdainError("files_too_large", f"the files have {size} bytes, and {FILES_BYTES_MAX} can be sent at once")
    coded = {name: base64.b64encode(content).decode() for name, content in contents.items()}
    return [{"name": name, "content_base64": content} for name, content in coded.items()]


def _content(name: str, file: Any) -> bytes:
    if isinstance(file, bytes | bytearray | memoryview):
        return bytes(file)
    if isinstance(file, str):
        return file.encode()
    if isinstance(file, os.PathLike):
        try:
            return Path(file).read_bytes()
        except OSError as error:
            raise OrdainError("bad_file", f"`{name}` cannot be read: {error}") from error
    if hasattr(file, "to_csv") and name.endswith(".csv"):
        return cast(str, file.to_csv(index=False)).encode()
    if hasattr(file, "to_parquet") and name.endswith(".parquet"):
        return cast(bytes, file.to_parquet(index=False))
    if name.endswith(".json"):
        return json.dumps(file).encode()
    raise OrdainError(
        "bad_file",
        f"`{name}` is given as {type(file).__name__}, which is no file",
        "give bytes, text, a path, or a frame under a name that ends with .csv or .parquet",
    )
