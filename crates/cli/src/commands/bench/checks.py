"""The same code as the checks, in one plain Python process: what the engine is measured against.

Reads a JSON list of {"code", "tables"} from standard input; the tables are CSV files in the folder given.
"""

import json
import sys
import time

started = time.perf_counter()
import pandas as pd

imported = time.perf_counter()
folder, programs = sys.argv[1], json.load(sys.stdin)
frames = {}


def frame(name):
    if name not in frames:
        frames[name] = pd.read_csv(f"{folder}/{name}.csv", low_memory=False)
    return frames[name].copy(deep=False)


for program in programs:
    for table in program["tables"]:
        frame(table)
loaded = time.perf_counter()
each = []
for program in programs:
    began = time.perf_counter()
    exec(compile(program["code"], "check.py", "exec"), {"frame": frame, "inputs": {"now": "2025-01-01T00:00:00Z", "history": []}})
    each.append(time.perf_counter() - began)
ended = time.perf_counter()
print(json.dumps({"import": imported - started, "load": loaded - imported, "run": ended - loaded, "each": each}))
