"""A run: what was asked, what was answered, and what happened to the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ._errors import Declined, RunFailed
from ._models import Artifact, RunError, RunRecord
from ._models import TableDiff as TableDiffRecord
from ._rows import Rows, table_html, text_html

if TYPE_CHECKING:
    import pandas

    from ._client import AsyncOrdain, Ordain

#: States in which a run has not done what was asked, and will not.
_ENDED_BADLY = frozenset({"rejected", "failed", "conflicted"})


@dataclass(frozen=True)
class Change:
    """A row that was there before and differs now."""

    key: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that differ."""
        names = dict.fromkeys([*self.before, *self.after])
        return [name for name in names if self.before.get(name) != self.after.get(name)]


class Changes(list[Change]):
    """Changed rows of one table."""

    @property
    def df(self) -> pandas.DataFrame:
        """A row for each value that differs: the row's key, the column, and the value before and after."""
        return self._values().df

    def _values(self) -> Rows:
        rows = [
            {**change.key, "column": name, "before": change.before.get(name), "after": change.after.get(name)}
            for change in self
            for name in change.columns
        ]
        return Rows(rows, [*(self[0].key if self else ()), "column", "before", "after"])


class TableDiff:
    """What a run did to one table."""

    def __init__(self, record: TableDiffRecord) -> None:
        self.added = Rows(record["added"])
        self.changed = Changes(Change(row["key"], row["before"], row["after"]) for row in record["changed"])
        self.removed = Rows(record["removed"])

    def __repr__(self) -> str:
        return f"<{len(self.added)} added, {len(self.changed)} changed, {len(self.removed)} removed>"


class Diff(Mapping[str, TableDiff]):
    """What a run did, or would do, by table. Tables without a change are left out."""

    def __init__(self, record: Mapping[str, TableDiffRecord]) -> None:
        self._tables = {name: TableDiff(table) for name, table in record.items()}

    def __getitem__(self, table: str) -> TableDiff:
        return self._tables[table]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return repr(self._tables)

    @property
    def df(self) -> pandas.DataFrame:
        """A row for each value that differs, of all tables."""
        return self._values().df

    def _values(self) -> Rows:
        rows: list[dict[str, Any]] = []
        for name, table in self.items():
            for row in table.removed:
                rows += [_value(name, "removed", None, column, value, None) for column, value in row.items()]
            for change in table.changed:
                before, after = change.before, change.after
                rows += [
                    _value(name, "changed", change.key, column, before.get(column), after.get(column))
                    for column in change.columns
                ]
            for row in table.added:
                rows += [_value(name, "added", None, column, None, value) for column, value in row.items()]
        return Rows(rows, ["table", "change", "key", "column", "before", "after"])

    def _repr_html_(self) -> str:
        rows = self._values()
        return table_html(rows.columns, ([row[name] for name in rows.columns] for row in rows), len(rows))


def _value(
    table: str, change: str, key: dict[str, Any] | None, column: str, before: Any, after: Any
) -> dict[str, Any]:
    told = None if key is None else ", ".join(str(part) for part in key.values())
    return {"table": table, "change": change, "key": told, "column": column, "before": before, "after": after}


class RunView:
    """All that is known of a run. `record` is the whole of it, as the server gave it."""

    def __init__(self, record: RunRecord) -> None:
        self.record: RunRecord = record

    @property
    def id(self) -> str:
        """Names the run."""
        return self.record["run_id"]

    @property
    def state(self) -> str:
        """Where it stands: `committed`, `answered`, `held`, `declined`, `undone` …"""
        return self.record["state"]

    @property
    def status(self) -> str | None:
        """What the plan says of its own success: `success`, `no_match`, `insufficient_stock` …"""
        return self.record["status"]

    @property
    def ok(self) -> bool:
        """Whether it did what was asked, or waits to be let."""
        is_well = self.state in ("committed", "answered", "held") or (self.state == "rolled_back" and not self.error)
        return is_well and self.status in (None, "success")

    @property
    def answer(self) -> str | None:
        """The answer in words."""
        return self.record["answer"]["text"]

    @property
    def receipt(self) -> str:
        """What happened to the data, said by the engine and not by the plan."""
        return self.record["receipt"]["text"]

    @property
    def rows(self) -> Rows:
        """The rows of the answer. A run that was not carried out has none, which is an exception and no empty list."""
        self.raise_if_failed()
        answer = self.record["answer"]
        return Rows.of_answer(answer["rows"], answer.get("columns", []))

    @property
    def df(self) -> pandas.DataFrame:
        """The rows of the answer as a frame."""
        return self.rows.df

    @property
    def value(self) -> Any:
        """Any other value that the plan gave."""
        return self.record["answer"]["json"]

    @property
    def notes(self) -> list[str]:
        """What is worth knowing about the answer: how files were read, values that could not be."""
        return self.record["answer"].get("notes", [])

    @property
    def diff(self) -> Diff:
        """The rows that it added, changed and removed, or would."""
        return Diff(self.record["diff"])

    @property
    def plan(self) -> str:
        """The code that ran."""
        return "\n".join(step["code"] for step in self.record["plan"]["steps"])

    @property
    def stdout(self) -> str:
        """What its code printed."""
        return self.record["outcome"]["stdout"]

    @property
    def stderr(self) -> str:
        """What its code printed to stderr, tracebacks included."""
        return self.record["outcome"]["stderr"]

    @property
    def files(self) -> list[Artifact]:
        """The files that its code left."""
        return self.record["outcome"]["artifacts"]

    @property
    def error(self) -> RunError | None:
        """Why it was not carried out, where that is so."""
        return self.record.get("error")

    @property
    def question(self) -> str | None:
        """What it waits to be told, where it waits."""
        asked = self.record["plan"].get("questions", [])
        return asked[-1]["text"] if self.state == "waiting" and asked else None

    def raise_if_failed(self) -> None:
        """Raises what went wrong, if the run came to no good end."""
        error = self.error
        failed: RunFailed
        if error is not None:
            failed = RunFailed(error["code"], error["message"], error.get("hint"), run_id=self.id)
        elif self.state == "declined":
            failed = Declined(self.status or "declined", self.answer or self.receipt, run_id=self.id)
        elif self.state in _ENDED_BADLY:
            failed = RunFailed(self.state, self.receipt, run_id=self.id)
        else:
            return
        failed.run = self
        raise failed

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.state}: {self.answer or self.receipt}>"

    def __str__(self) -> str:
        error = self.error
        said = [self.answer, self.stdout.rstrip(), f"{error['code']}: {error['message']}" if error else None]
        return "\n".join([text for text in said if text] + [self.receipt])

    def _repr_html_(self) -> str:
        error, answer = self.error, self.record["answer"]
        parts = [f"<p>{text_html(self.answer)}</p>" if self.answer else ""]
        if error is not None:
            parts.append(f"<p><b>{text_html(error['code'])}</b>: {text_html(error['message'])}</p>")
            if error.get("hint"):
                parts.append(f"<p>hint: {text_html(error['hint'])}</p>")
        if answer["rows"]:
            parts.append(Rows.of_answer(answer["rows"], answer.get("columns", []))._repr_html_())
        if self.stdout:
            parts.append(f"<pre>{text_html(self.stdout)}</pre>")
        parts.append(f"<p><small>{text_html(self.receipt)}</small></p>")
        if self.diff:
            parts.append(self.diff._repr_html_())
        return "".join(parts)


class Run(RunView):
    """A run, and what a person may decide about it."""

    def __init__(self, record: RunRecord, client: Ordain) -> None:
        super().__init__(record)
        self._client = client

    def approve(self, *, leave_out: list[str] | None = None, rebase: bool = False) -> Run:
        """Commits the change that waits. `leave_out` names rows such as `inventory/SG001`; `rebase` makes the change
        again on the rows of today."""
        body: dict[str, Any] = {}
        if leave_out:
            body["except"] = leave_out
        if rebase:
            body["rebase"] = True
        return self._decided("approve", body or None)

    def reject(self) -> Run:
        """Drops the change that waits."""
        return self._decided("reject", None)

    def undo(self) -> Run:
        """Takes back what was committed."""
        return self._decided("undo", None)

    def cancel(self) -> Run:
        """Ends a run that goes on; nothing of it stays."""
        return self._decided("cancel", None)

    def reply(self, words: str, *, timeout: float | None = None) -> Run:
        """Answers the question that the run waits with, and waits for its end."""
        return self._became(self._client._replied(self.id, words, timeout))

    def rate(self, good: bool, note: str | None = None) -> Run:
        """Says whether it did what was wanted."""
        body = {"rating": "good" if good else "bad", **({} if note is None else {"note": note})}
        return self._decided("feedback", body)

    def refresh(self) -> Run:
        """Asks the server again."""
        return self._became(self._client._record(self.id))

    def file(self, name: str) -> bytes:
        """The content of a file that its code left."""
        return self._client._file(self.id, name)

    def _decided(self, verb: str, body: dict[str, Any] | None) -> Run:
        return self._became(self._client._decide(self.id, verb, body))

    def _became(self, record: RunRecord) -> Run:
        if record["run_id"] != self.id:
            return Run(record, self._client)
        self.record = record
        return self


class AsyncRun(RunView):
    """A run, and what a person may decide about it, to be awaited."""

    def __init__(self, run: Run, client: AsyncOrdain) -> None:
        super().__init__(run.record)
        self._run, self._client = run, client

    async def approve(self, *, leave_out: list[str] | None = None, rebase: bool = False) -> AsyncRun:
        """See `Run.approve`."""
        return await self._do(lambda: self._run.approve(leave_out=leave_out, rebase=rebase))

    async def reject(self) -> AsyncRun:
        """See `Run.reject`."""
        return await self._do(self._run.reject)

    async def undo(self) -> AsyncRun:
        """See `Run.undo`."""
        return await self._do(self._run.undo)

    async def cancel(self) -> AsyncRun:
        """See `Run.cancel`."""
        return await self._do(self._run.cancel)

    async def reply(self, words: str, *, timeout: float | None = None) -> AsyncRun:
        """See `Run.reply`."""
        return await self._do(lambda: self._run.reply(words, timeout=timeout))

    async def rate(self, good: bool, note: str | None = None) -> AsyncRun:
        """See `Run.rate`."""
        return await self._do(lambda: self._run.rate(good, note))

    async def refresh(self) -> AsyncRun:
        """See `Run.refresh`."""
        return await self._do(self._run.refresh)

    async def file(self, name: str) -> bytes:
        """See `Run.file`."""
        return cast(bytes, await self._client._in_thread(self._run.file, name))

    async def _do(self, work: Any) -> AsyncRun:
        run: Run = await self._client._in_thread(work)
        if run is not self._run:
            return AsyncRun(run, self._client)
        self.record = run.record
        return self
