"""The code of the checks themselves, in one plain Python process over pandas.

Usage: python3 plain.py FILE, with JSON on standard input: the checks' code, and the source of what `frame` offers besides tables.
Prints the verdicts in their order, `true` where a check passes.
"""

import json
import pathlib
import sys
import types

import pandas as pd

path, given = pathlib.Path(sys.argv[1]), json.load(sys.stdin)
frames = types.ModuleType("frames")
exec(compile(given["frames"], "frames.py", "exec"), frames.__dict__)
tables = {path.stem: pd.read_csv(path, low_memory=False)}


def frame(name):
    return tables[name].copy(deep=False)


frame.repeated = frames.repeated
verdicts = []
for code in given["codes"]:
    names = {"frame": frame, "inputs": {"now": "2025-01-01T00:00:00Z", "history": []}}
    exec(compile(code, "check.py", "exec"), names)
    verdicts.append(names["result"]["status"] == "PASS")
print(json.dumps(verdicts))
