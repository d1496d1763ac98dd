"""Checks as plain Python, written by `ordain check export --to python`.

Usage: python3 checks.py [FOLDER]     FOLDER holds the data files under the names that they had; `data` if left out

It needs pandas (2.3 or newer) and pyarrow, and openpyxl for Excel. Tables are read by the very code with which Ordain reads them.
Exit code: 0 if nothing failed, 1 if a check failed, 3 if one could not be evaluated.
"""

import datetime
import json
import pathlib
import sys
import tempfile
import types

import pandas as pd

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "data")
# The data files with how they are written, and the columns that the checks were compiled against.
FILES = json.loads(@FILES@)
COLUMNS = json.loads(@COLUMNS@)
# Ordain's own sources: what decides how columns are read, what makes frames, and what turns a file into tables.
READING = @READING@
FRAMES = @FRAMES@
CONVERTER = @CONVERTER@
SETTINGS = json.loads(@SETTINGS@)

inputs = {"now": datetime.datetime.now(datetime.timezone.utc).isoformat(), "history": []}
statuses = []
tables = {}
made = tempfile.TemporaryDirectory()


def module(name, source):
    sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), sys.modules[name].__dict__)
    return sys.modules[name]


module("ordain_reading", READING).keep_exact()
frames = module("ordain_frames", FRAMES)


def convert(number, file):
    """Makes the tables of a data file ready, by their names."""
    target = pathlib.Path(made.name, str(number))
    target.mkdir()
    given = {"source": file["file"], "name": file["file"], "settings": SETTINGS, "form": file["form"], "packing": file["packing"], "declared": file["declared"]}
    given |= {"known": None, "files": {file["file"]: FOLDER / file["file"]}, "artifacts": target}
    exec(compile(CONVERTER, "convert.py", "exec"), given)
    if given["problem"]:
        raise ValueError(f"{file['file']}: {given['problem']}")
    for table in given["tables"]:
        name = file["stem"] + (f".{table['sheet']}" if table["sheet"] else "")
        tables[name] = (target / table["file"], {column["name"]: column["type"] for column in table["columns"]})


class NoRows(Exception):
    """A table has no rows."""


def frame(name):
    if name not in tables:
        for number, file in enumerate(FILES):
            if name == file["stem"] or name.startswith(file["stem"] + "."):
                if not pathlib.Path(made.name, str(number)).exists() and (FOLDER / file["file"]).exists():
                    convert(number, file)
    if name not in tables:
        raise ValueError(f"there is no file with a table {name} in {FOLDER}")
    path, columns = tables[name]
    changed = [column for column, kind in COLUMNS[name].items() if columns.get(column) != kind]
    rows = frames.from_file(path)
    # A table without rows shows no types.
    if changed and not len(rows) and frame.judged:
        raise NoRows(name)
    if changed and len(rows):
        raise ValueError(f"{changed[0]} of {name} is gone or has another type now; export the checks again")
    return rows


frame.repeated = frames.repeated


def run(check, code, judged, warn_if, fail_if):
    """Runs a check and grades it. `judged` is the table that must have rows, if there is one."""
    frame.judged = judged
    try:
        result = code()
        if result["status"] == "PASS" and judged and not len(frame(judged)):
            raise NoRows(judged)
    except NoRows as error:
        return told("SKIPPED", check, f"table {error} has no rows, so nothing was judged")
    except Exception as error:
        return told("ERROR", check, f"{type(error).__name__}: {error}")
    failed, evaluated = result.get("failed", 1), result.get("evaluated")
    share = 100 * failed / evaluated if evaluated else 0
    passed = lambda limit: failed > limit.get("count", failed) or share > limit.get("percent", 100)
    status = result["status"]
    if status == "FAIL" and (warn_if or fail_if):
        status = "FAIL" if fail_if and passed(fail_if) else "WARN" if warn_if and passed(warn_if) else "PASS"
    told(status, check, result["summary"])


def told(status, check, words):
    statuses.append(status)
    print(f"{status:7} {check}: {words}")
