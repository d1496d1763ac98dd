"""Reports of checks, and checks of rows that are in memory, inside a pipeline."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import ChecksFailed, NotStarted, OrdainError
from ._models import CheckReport, CheckResult
from ._rows import Rows, import_pandas, table_html, text_html

if TYPE_CHECKING:
    import pandas

#: The column that says which row it is, in the table that the program reads.
_PLACE = "row_of_frame"
#: Reasons for which a check that was left out leaves open whether its rule holds.
_LEFT_OPEN = frozenset({"missing_table", "empty_table", "not_understood", "not_compiled", "frozen"})
#: How much a failing check of each severity weighs.
_SEVERITIES = ("info", "low", "medium", "high", "critical")


class Report:
    """What a run of checks gave. `record` is the whole of it."""

    def __init__(self, record: CheckReport) -> None:
        self.record: CheckReport = record

    @property
    def results(self) -> list[CheckResult]:
        """What each check gave."""
        return self.record["results"]

    @property
    def failed(self) -> list[CheckResult]:
        """The rules that do not hold."""
        return [result for result in self.results if result["status"] == "FAIL"]

    @property
    def not_evaluated(self) -> list[CheckResult]:
        """The rules of which nobody knows whether they hold: not understood, in error, or without a table."""
        return [one for one in self.results if one["status"] == "ERROR" or one["skipped"] in _LEFT_OPEN]

    @property
    def ok(self) -> bool:
        """Whether every rule was evaluated and none fails that weighs more than `info`."""
        return not self.not_evaluated and not any(result["severity"] != "info" for result in self.failed)

    def raise_if_failed(self, severity: str = "low") -> Report:
        """Raises unless every rule was evaluated and none of at least this severity fails."""
        counted = _SEVERITIES[_SEVERITIES.index(severity) :]
        failing = [result for result in self.failed if result["severity"] in counted]
        if not failing and not self.not_evaluated:
            return self
        told = [f"{one['check_id']} {one['status']}: {one['summary']}" for one in [*failing, *self.not_evaluated]]
        code = "checks_failed" if failing else "checks_not_evaluated"
        error = ChecksFailed(code, "; ".join(told), run_id=self.record["run_id"])
        error.report = self
        raise error

    @property
    def rows(self) -> Rows:
        """A row for each check."""
        names = ["check_id", "status", "severity", "evaluated", "failed", "rule", "understood", "summary"]
        return Rows(({name: result.get(name) for name in names} for result in self.results), names)

    @property
    def df(self) -> pandas.DataFrame:
        """A row for each check, as a frame."""
        return self.rows.df

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in self.record["counts"].items() if count)
        return f"<{type(self).__name__} {counts or 'no checks'}>"

    def _repr_html_(self) -> str:
        rows = self.rows
        shown = table_html(rows.columns, ([row[name] for name in rows.columns] for row in rows), len(rows))
        return f"<p>{text_html(repr(self)[1:-1])}</p>{shown}"


class FrameReport(Report):
    """What rules say of rows in memory."""

    def __init__(self, record: CheckReport, places: dict[str, list[int]], table: Any) -> None:
        super().__init__(record)
        self._places, self._table = places, table

    @property
    def failing(self) -> dict[str, list[int]]:
        """The places of the failing rows, from 0, by rule."""
        return self._places

    @property
    def failed_rows(self) -> Any:
        """The rows that break some rule: of a frame, the same rows of it, with its index and types; else `Rows`."""
        return self._at(sorted({place for places in self._places.values() for place in places}))

    @property
    def good_rows(self) -> Any:
        """The other rows."""
        bad = {place for places in self._places.values() for place in places}
        return self._at([place for place in range(len(self._table)) if place not in bad])

    def rows_of(self, rule: str) -> Any:
        """The rows that break one rule, by its text or its id."""
        for result in self.results:
            if rule in (result["check_id"], result["rule"]):
                return self._at(self._places[result["check_id"]])
        raise OrdainError("unknown_rule", f"there is no rule `{rule}` in this report")

    def _at(self, places: list[int]) -> Any:
        if isinstance(self._table, Rows):
            return Rows([self._table[place] for place in places], self._table.columns)
        return self._table.iloc[places]


def check_frame(
    frame: pandas.DataFrame | Iterable[Mapping[str, Any]],
    rules: Iterable[str | Mapping[str, Any]],
    *,
    severity: str = "medium",
    allow_empty: bool = False,
    program: str | os.PathLike[str] | None = None,
) -> FrameReport:
    """Checks rows in memory. `rules` are sentences ("price must be between 1 and 100") or records with a built-in kind.

    `report.ok` says whether all holds; `report.failed_rows` are the rows of `frame` that break a rule. A frame without rows
    is not in order unless `allow_empty` says so, and an empty text counts as a missing value, both as in every table.
    The rows go to the program in a folder of this user alone, which is removed again.
    """
    from ._workspace import find_program

    table: Any = frame if isinstance(frame, Rows) or hasattr(frame, "iloc") else Rows(frame)
    names = [str(name) for name in table.columns]
    if len(set(names)) < len(names) or _PLACE in names:
        raise OrdainError("bad_frame", "each column needs a name of its own", f"`{_PLACE}` is taken by this check")
    usual = {"severity": severity, "allow_empty": allow_empty}
    records = [_record(place, rule, usual) for place, rule in enumerate(rules, 1)]
    if not records:
        raise OrdainError("no_rules", "there is no rule to check", "give sentences, or records with `kind` and `params`")
    with tempfile.TemporaryDirectory(prefix="ordain-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "checks").mkdir()
        types = _write(folder / "data", table, names)
        (folder / "ordain.toml").write_text(_settings(types), encoding="utf-8")
        (folder / "checks" / "checks.json").write_text(json.dumps(records), encoding="utf-8")
        report = _report(find_program(program), folder)
        places = {result["check_id"]: _places(folder, result) for result in report["results"]}
    return FrameReport(report, places, table)


def _record(place: int, rule: str | Mapping[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    own = {"calculation_hint": rule} if isinstance(rule, str) else dict(rule)
    fixed = {"target_table": "frame", "key_columns": [_PLACE], "samples": {"max_rows": 1000}}
    return {"check_id": f"R{place}", **usual, **own, **fixed}


def _settings(types: Mapping[str, str]) -> str:
    columns = "".join(f"{json.dumps(name)} = {json.dumps(kind)}\n" for name, kind in types.items())
    return f'[workspace]\nname = "frame"\n\n[data.frame]\nnull_values = []\n\n[data.frame.columns]\n{columns}'


def _write(folder: Path, table: Any, names: Sequence[str]) -> dict[str, str]:
    """Writes the rows, and says what each column holds where all of its values are of one kind."""
    if len(table) == 0:
        # Lines of JSON without a line would have no columns.
        with (folder / "frame.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow([_PLACE, *names])
        return {_PLACE: "integer"}
    if isinstance(table, Rows):
        columns = [[row.get(name) for row in table] for name in table.columns]
    else:
        pandas = import_pandas()
        columns = [_values(pandas, table.iloc[:, place]) for place in range(len(names))]
    types = {_PLACE: "integer"}
    written = []
    for name, column in zip(names, columns, strict=True):
        kinds = {_kind(value) for value in column if not _is_missing(value)}
        if kinds == {"integer", "real"}:
            kinds = {"real"}
        if len(kinds) == 1:
            types[name] = kinds.pop()
        written.append([_plain(value) for value in column])
    with (folder / "frame.jsonl").open("w", encoding="utf-8") as file:
        for place in range(len(table)):
            row = {name: column[place] for name, column in zip(names, written, strict=True)}
            file.write(json.dumps({_PLACE: place, **row}) + "\n")
    return types


def _values(pandas: Any, series: Any) -> list[Any]:
    """The values of a column as Python has them, `None` where there is none."""
    missing = series.isna().to_list()
    return [None if gone else value for gone, value in zip(missing, series.astype(object).to_list(), strict=True)]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _kind(value: Any) -> str:
    """The type of a table's column that holds such values."""
    value = _unwrapped(value)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "identifier"
    if isinstance(value, float | decimal.Decimal):
        return "real"
    if isinstance(value, datetime.datetime):
        return "timestamp"
    if isinstance(value, datetime.date):
        return "date"
    return "text"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    value = _unwrapped(value)
    if _is_missing(value) or isinstance(value, bool | int | str):
        return None if _is_missing(value) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, default=str)
    return str(value)


def _unwrapped(value: Any) -> Any:
    """Python's own value of one of numpy's."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _report(program: str, folder: Path) -> CheckReport:
    command = [program, "check", "run", "--json", "--workspace", str(folder), "--model", "rules"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise NotStarted("not_started", f"`{program}` cannot be started: {error}") from error
    try:
        report = json.loads(done.stdout)
        report["results"]
    except (ValueError, TypeError, KeyError):
        lines = done.stderr.decode(errors="replace").splitlines()
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
        message = "; ".join(errors) or "the checks could not be run"
        raise OrdainError("checks_not_run", message, "; ".join(hints) or None) from None
    return report  # type: ignore[no-any-return]


def _places(folder: Path, result: CheckResult) -> list[int]:
    """Where the rows are that break a rule: all of them are in a file, the first ones in the report itself."""
    for artifact in result["artifacts"]:
        path = folder / artifact
        if path.name == "failed_rows.csv" and path.is_relative_to(folder):
            with path.open(encoding="utf-8", newline="") as file:
                return sorted(int(float(row[_PLACE])) for row in csv.DictReader(file) if row.get(_PLACE))
    return sorted({int(sample["key"][_PLACE]) for sample in result["samples"] if _PLACE in sample["key"]})
