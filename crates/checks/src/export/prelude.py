"""Checks as plain Python, written by `ordain check export --to python`.

Usage: python3 checks.py [FOLDER]     FOLDER holds the tables as files, NAME.csv and so on; `data` if left out

It needs pandas, and pyarrow for Parquet. Columns have the types that the checks were compiled against: a value that
does not fit its type ends the run, nothing is left out. Exit code: 0 if nothing failed, 1 if a check failed.
"""

import datetime
import json
import pathlib
import sys

import pandas as pd

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "data")
TABLES = json.loads(r"""@TABLES@""")
READERS = {
    ".csv": lambda path: pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""]),
    ".tsv": lambda path: pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""], sep="\t"),
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False, convert_dates=False),
    ".json": lambda path: pd.read_json(path, dtype=False, convert_dates=False),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".xlsx": lambda path: pd.read_excel(path, dtype="object"),
}
inputs = {"now": datetime.datetime.now(datetime.timezone.utc).isoformat()}
statuses = []


def typed(values, kind):
    if kind in ("integer", "real"):
        return pd.to_numeric(values)
    if kind == "timestamp":
        return pd.to_datetime(values, format="ISO8601")
    if kind == "boolean" and values.dtype != "bool":
        known = values.map({"true": True, "false": False, "True": True, "False": False, True: True, False: False})
        if (known.isna() & values.notna()).any():
            raise ValueError(f"{values.name}: not every value is true or false")
        return known
    return values.map(str, na_action="ignore") if kind == "text" else values


def frame(name):
    found = [path for path in sorted(FOLDER.glob(f"{name}.*")) if path.suffix in READERS]
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found)} files in {FOLDER} hold the table {name}; one is needed")
    rows = READERS[found[0].suffix](found[0])
    for column, kind in TABLES[name].items():
        rows[column] = typed(rows[column], kind)
    return rows


frame.repeated = lambda rows: rows.duplicated(keep=False)


def report(check, result, warn_if, fail_if):
    failed, evaluated = result.get("failed", 1), result.get("evaluated")
    share = 100 * failed / evaluated if evaluated else 0
    passed = lambda limit: failed > limit.get("count", failed) or share > limit.get("percent", 100)
    status = result["status"]
    if status == "FAIL" and (warn_if or fail_if):
        status = "FAIL" if fail_if and passed(fail_if) else "WARN" if warn_if and passed(warn_if) else "PASS"
    statuses.append(status)
    print(f"{status:5} {check}: {result['summary']}")
