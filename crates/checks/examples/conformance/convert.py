"""Reads one file of cases: its tables become Arrow files, its cases one JSON text that strict parsers can read."""

import json
import math

import pandas as pd
import pyarrow as pa

PANDAS = {"pandas", "pandas>=024", "pandas_v3_api"}
TIMES = {"datetime", "datetime64", "datetime64[ns]", "timestamp", "Timestamp", "date", "datetime64[ns, UTC]"}


def is_for_pandas(thing):
    only, never = thing.get("only_for") or [], thing.get("suppress_test_for") or []
    return (not only or bool(PANDAS & set(only))) and not PANDAS & set(never)


def strict(value):
    """The value without the numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [strict(item) for item in value]
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    return value


def column(values, kind):
    if kind in TIMES:
        values = pd.Series(values, dtype="object")
        try:
            return pa.array(pd.to_datetime(values, utc=kind == "timestamp", format="mixed"))
        except ValueError:
            # Points in time of several zones have only one zone in common.
            return pa.array(pd.to_datetime(values, utc=True, format="mixed"))
    if kind in ("str", "string"):
        values = [None if value is None else str(value) for value in values]
    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # A table's column has one type; values of several are text.
        made = pa.array([None if value is None else str(value) for value in values], pa.string())
    return made.cast(pa.string()) if pa.types.is_null(made.type) else made


def type_of(kind):
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "real"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return "json" if pa.types.is_nested(kind) else "text"


def write(data, types, path):
    table = pa.table({name: column(values, types.get(name)) for name, values in data.items()})
    with pa.ipc.new_file(str(path), table.schema) as out:
        out.write_table(table)
    return [{"name": field.name, "type": type_of(field.type), "nullable": True} for field in table.schema]


source = json.loads(files["cases.json"].read_text(encoding="utf-8"))
cases = []
for number, dataset in enumerate(source["datasets"]):
    data = dataset["data"]
    types = (dataset.get("schemas") or {}).get("pandas") or {}
    columns = write(data, types, artifacts / f"{number}.arrow") if isinstance(data, dict) else None
    for case in dataset["tests"]:
        given = case.get("in", case.get("input"))
        cases.append(
            {
                "dataset": number,
                "columns": columns,
                "title": case.get("title", ""),
                "is_for_pandas": is_for_pandas(dataset) and is_for_pandas(case),
                "in": given if isinstance(given, dict) else None,
                "given": given,
                "out": case.get("out", case.get("output")) or {},
                "error": case.get("error"),
                "tolerance": case.get("tolerance"),
            }
        )
result = strict({"expectation_type": source["expectation_type"], "cases": cases})
