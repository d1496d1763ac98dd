"""Tables as pandas frames: mapped from files that the host shows to the cell, or read from the store by calls.

A mounted Arrow file is mapped, not read: its columns become a frame's columns where they lie, so that many cells share
one table through the page cache and a column that the code never touches costs nothing. Such columns cannot be written
to; the frame that the code gets copies a column when the code changes it.

It also settles what a check's code found: failing rows stay in the cell but for a few, and all of them go to a file.
"""

import contextlib
import csv
import datetime
import json
import math
import os
import re
import sys

# The frame of failing rows is written as text up to this many rows, and in columns above it.
TEXT_ROWS_MAX = 100_000
COLUMNS_MAX = 50
TEXT_CHARACTERS_MAX = 1000
HIDDEN = "•••"
# Spreadsheets compute a text that begins with one of these; an apostrophe makes it text.
COMPUTED = ("=", "+", "-", "@", "\t", "\r")
NOTES_MAX = 50
# Rows that are compared with each other at once.
PART_ROWS = 2_000_000

_mapped = {}
_tables = {}


def framer(files, tables, readings, paths, notes):
    """The function `frame`: over mounted files by table name, tables of the store, and files that were looked into.

    `readings` say how each table of such a file is read, `paths` where the file lies; what turns out when its values
    are read goes to `notes`.
    """

    def frame(name, table=None, columns=None):
        """A table as a pandas DataFrame: of the workspace by its name, of a file by the file's name and, where the file
        holds several, the table's. Every column has the type that it was found to have."""
        if name in readings:
            facts, found = table_of(readings, name, table)
            with named(name):
                rows, said = sys.modules["ordain_reading"].loaded(paths[name], facts, found, columns)
            tell(notes, name, said)
            return rows
        if name in files:
            return from_file(files[name])
        if name in tables:
            return from_store(tables[name])
        known = ", ".join(sorted([*readings, *files, *tables])) or "none"
        raise KeyError(f"there is no table {name!r}; there are: {known}")

    def pieces(name, table=None, columns=None):
        """The same piece by piece, for a table that is too large to be read whole."""
        facts, found = table_of(readings, name, table)
        with named(name):
            for rows, said in sys.modules["ordain_reading"].loaded_pieces(paths[name], facts, found, columns):
                tell(notes, name, said)
                yield rows

    frame.pieces, frame.repeated = pieces, repeated
    return frame


def repeated(rows, part_rows=PART_ROWS):
    """Marks the rows that occur more than once, as `duplicated(keep=False)` does, in less memory: a long table is
    compared part by part, and rows that are alike fall into the same part."""
    import numpy
    import pandas

    parts = len(rows) // part_rows + 1
    if parts == 1:
        return rows.duplicated(keep=False)
    part_of = numpy.empty(len(rows), dtype="uint16")
    for at in range(0, len(rows), part_rows):
        some = rows.iloc[at : at + part_rows]
        # Zero and minus zero are alike.
        some = pandas.DataFrame({place: some.iloc[:, place] + 0.0 if kind.kind == "f" else some.iloc[:, place] for place, kind in enumerate(some.dtypes)})
        part_of[at : at + part_rows] = (pandas.util.hash_pandas_object(some, index=False).to_numpy() >> 32) % parts
    found = numpy.zeros(len(rows), dtype="bool")
    for part in range(parts):
        places = numpy.flatnonzero(part_of == part)
        found[places] = rows.iloc[places].duplicated(keep=False).to_numpy()
    return pandas.Series(found, index=rows.index)


def table_of(readings, name, table):
    facts = readings[name]
    every = tables_in(facts)
    outer = [one for one in facts["tables"] if "inner_list" not in one]
    # Tables that were joined have no name of their own.
    outer = [one for one in outer if one.get("parts")] or outer
    found = outer if table is None else [one for one in every if one.get("name") == table]
    if len(found) == 1:
        return facts, found[0]
    known = ", ".join(repr(one["name"]) for one in every if one.get("name"))
    raise KeyError(f"{name} holds several tables; name one of them: {known}" if table is None else f"{name} has no table {table!r}; there are: {known}")


def tables_in(facts):
    """The tables of a file, and those that some of them were joined from."""
    return [*facts["tables"], *(part for one in facts["tables"] for part in one.get("parts", ()))]


@contextlib.contextmanager
def named(name):
    """Puts the name of a file before what is wrong with it."""
    unreadable = sys.modules["ordain_reading"].Unreadable
    try:
        yield
    except unreadable as error:
        raise unreadable(f"{name}: {error}") from None


def tell(notes, name, said):
    notes += [f"{name}: {note}" for note in said if len(notes) < NOTES_MAX]


def mapped_table(path):
    """The Arrow table in a file. Each is mapped once: a cell has address space for that."""
    if path not in _tables:
        import pyarrow

        # As a buffer: of a file Arrow reads the end in a thread of its own, which the limits may not allow.
        mapped = pyarrow.BufferReader(pyarrow.memory_map(str(path)).read_buffer())
        _tables[path] = pyarrow.ipc.open_file(mapped).read_all()
    return _tables[path]


def from_file(path):
    if path not in _mapped:
        table = mapped_table(path)
        frame = as_pandas(table)
        metadata = table.schema.metadata or {}
        misfits = json.loads(metadata.get(b"ordain.misfits", b"{}"))
        # The number that the first row has in its file.
        frame.attrs["first_row"] = int(metadata.get(b"ordain.first_row", b"1"))
        # Values that are there and do not fit their column: a check of the column fails them. pandas copies what hangs on a frame
        # with every step, so nothing does that need not.
        if misfits:
            frame.attrs["length"] = len(frame)
            made = sys.modules["ordain_reading"].Misfits
            frame.attrs["misfits"] = {name: made({int(place): text for place, text in some.items()}) for name, some in misfits.items()}
        _mapped[path] = frame
    # The mapped frame stays referred to, so pandas copies a column before it writes to it.
    return _mapped[path].copy(deep=False)


def as_pandas(table):
    """An Arrow table as a frame that shares its memory."""
    import pandas
    import pyarrow

    frame = table.to_pandas(split_blocks=True, use_threads=False)
    for name in table.column_names:
        # A gap makes no fractions of the whole numbers around it.
        if table[name].null_count and pyarrow.types.is_integer(table[name].type):
            frame[name] = pandas.Int64Dtype().__from_arrow__(table[name])
    return frame


def from_store(table):
    import pandas

    columns, rows = [], []
    for page in table._pages(None):
        columns = page["columns"]
        rows += [table._values(page, row) for row in page["rows"]]
    return pandas.DataFrame(rows, columns=columns)


# --- frames that one step gives and another one gets -----------------------------------------------------------------

# The one key of an object that stands for a frame; crates/types/src/outline.rs has the same.
FRAME = "dataframe"


def taken_apart(value):
    """A pandas frame as plain data that tells the types of its columns; `None` if it is none, or its names are no texts."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.DataFrame):
        return None
    has_index = not isinstance(value.index, pandas.RangeIndex)
    index = [name if name is not None else f"index_{place}" for place, name in enumerate(value.index.names)] if has_index else []
    flat = value.reset_index(names=index) if has_index else value
    if not all(isinstance(name, str) for name in flat.columns) or not flat.columns.is_unique:
        return None
    columns = {name: [None if gap else item for item, gap in zip(flat[name], flat[name].isna())] for name in flat.columns}
    types = [str(kind) for kind in flat.dtypes]
    return {FRAME: {"columns": list(columns), "types": types, "index": index, "rows": list(zip(*columns.values()))}}


def put_together(value):
    """The value with frames in place of what stands for them."""
    if isinstance(value, list):
        return [put_together(item) for item in value]
    if not isinstance(value, dict):
        return value
    parts = value.get(FRAME)
    if len(value) != 1 or not isinstance(parts, dict) or parts.keys() != {"columns", "types", "index", "rows"}:
        return {name: put_together(item) for name, item in value.items()}
    import pandas

    frame = pandas.DataFrame(parts["rows"], columns=parts["columns"], dtype=object)
    frame = frame.astype(dict(zip(parts["columns"], parts["types"])))
    return frame.set_index(parts["index"]) if parts["index"] else frame


# --- what a check found ----------------------------------------------------------------------------------------------


def settle(namespace, spec):
    """Puts a few failing rows in place of all of them, and all of them into a file."""
    result = namespace.get("result")
    if isinstance(result, dict) and "table" in result and "form" in result:
        namespace["result"] = result = dict(result)
        write_table(as_it_stood(as_frame(result.pop("table"))), result.pop("form"), namespace["artifacts"])
        return
    if not isinstance(result, dict) or "failed_rows" not in result:
        return
    result = namespace["result"] = dict(result)
    rows = result.pop("failed_rows")
    if rows is None:
        rows = []
    if isinstance(rows, int):
        result.setdefault("failed", rows)
        return
    if isinstance(rows, dict) and rows.keys() == {"columns", "places", "values"}:
        # A database picked them out.
        records = [dict(zip(rows["columns"], values)) for values in rows["values"]]
        settle_records(result, records, spec, namespace["artifacts"], rows["places"])
        return
    if not hasattr(rows, "iloc"):
        rows = list(rows)
        if all(isinstance(row, dict) for row in rows):
            settle_records(result, rows, spec, namespace["artifacts"])
            return
    rows = as_frame(rows)
    result.setdefault("failed", len(rows))
    if not spec["max_rows"] or not len(rows):
        return
    shown = [column for column in result.get("columns") or rows.columns if column in rows.columns]
    result["samples"] = samples(rows, shown[:COLUMNS_MAX], spec)
    result["artifact"] = write_all(hidden(as_it_stood(rows), spec["mask"]), namespace["artifacts"])


def write_table(rows, form, folder):
    """Leaves the rows that a transformation made as a file."""
    rows.attrs = {}
    if form == "jsonl":
        names = [str(name) for name in rows.columns]
        with open(folder / "table.jsonl", "w", encoding="utf-8") as file:
            for row in rows.itertuples(index=False, name=None):
                file.write(json.dumps(dict(zip(names, map(plain, row)))) + "\n")
        return
    if form == "xlsx":
        # A workbook has no zones: points in time that name one are written as those of UTC.
        rows = rows.apply(lambda column: column.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(column.dtype, "tz", None) else column)
        import pandas

        # Texts stay texts, also those that a spreadsheet would compute.
        options = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}
        with pandas.ExcelWriter(folder / "table.xlsx", engine="xlsxwriter", engine_kwargs=options) as book:
            rows.to_excel(book, index=False)
        return
    write = {"csv": rows.to_csv, "parquet": rows.to_parquet}[form]
    write(folder / f"table.{form}", index=False)


def settle_records(result, rows, spec, folder, places=None):
    """The same for rows that are plain records: they need no pandas. `places` say where each stands in its table."""
    result.setdefault("failed", len(rows))
    if not spec["max_rows"] or not rows:
        return
    columns = list(dict.fromkeys(str(column) for row in rows for column in row))
    rows = [{str(column): value for column, value in row.items()} for row in rows]
    shown = [column for column in result.get("columns") or columns if column in columns][:COLUMNS_MAX]
    keys = [column for column in spec["keys"] if column in columns]
    show = lambda row, column: HIDDEN if column in spec["mask"] else plain(row.get(column))
    result["samples"] = [
        {
            "key": {column: show(row, column) for column in keys} or {"row": place},
            "values": {column: show(row, column) for column in shown},
        }
        for place, row in zip(places or range(1, len(rows) + 1), rows[: spec["max_rows"]])
    ]
    result["artifact"] = "failed_rows.csv"
    with open(folder / result["artifact"], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(harmless, columns))
        for row in rows:
            writer.writerow([HIDDEN if column in spec["mask"] else harmless(row.get(column)) for column in columns])


def harmless(value):
    """A value that no spreadsheet computes: of a file that people open to look at rows."""
    return "'" + value if isinstance(value, str) and value.startswith(COMPUTED) else value


def as_frame(rows):
    import pandas

    if isinstance(rows, pandas.DataFrame):
        return rows
    if isinstance(rows, pandas.Series):
        return rows.to_frame(rows.name if rows.name is not None else "value")
    rows = list(rows)
    return pandas.DataFrame(rows if all(isinstance(row, dict) for row in rows) else {"value": rows})


def samples(rows, shown, spec):
    """Each row as its key and the values in question. A row without key columns is known by its place."""
    rows = rows.head(spec["max_rows"])
    keys = [column for column in spec["keys"] if column in rows.columns] or rows.attrs.get("keys", [])
    found = []
    misfits, first_row = rows.attrs.get("misfits", {}), rows.attrs.get("first_row")
    if first_row is None and hasattr(rows.index, "start"):
        # Rows that a statement found are counted from one.
        first_row = 1
    for place, (label, row) in enumerate(zip(rows.index, rows.itertuples(index=False, name=None))):
        values = dict(zip(rows.columns, row))
        # What does not fit its column is shown as it stands in the file.
        values |= {column: some[label] for column, some in misfits.items() if label in some}
        show = lambda column: HIDDEN if column in spec["mask"] else plain(values[column])
        number = label + first_row if first_row and isinstance(label, int) else label
        key = {str(column): show(column) for column in keys} or {"row": plain(number)}
        found.append({"key": key, "values": {str(column): show(column) for column in shown}})
    return found


def plain(value):
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value[:TEXT_CHARACTERS_MAX]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None if math.isnan(value) else str(value)
        # A column of whole numbers with gaps is kept as floating point.
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return plain(value.item())
    if hasattr(value, "isoformat"):
        text = value.isoformat()
        return None if text == "NaT" else text.removesuffix("T00:00:00")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value[:COLUMNS_MAX]]
    return None if str(value) == "<NA>" else str(value)[:TEXT_CHARACTERS_MAX]


def as_it_stood(rows):
    """The rows with each value that does not fit its column as the text that its file has there. Rows that were numbered
    anew are not those of the file."""
    first, length = getattr(rows.index, "start", None), rows.attrs.get("length")
    if not rows.index.is_unique or first == 0 and len(rows) != length:
        return rows
    for column, some in rows.attrs.get("misfits", {}).items():
        labels = [label for label in some if column in rows.columns and label in rows.index]
        labels = [label for label in labels if rows[column].isna()[label]]
        if labels:
            rows = rows.assign(**{column: rows[column].astype("object")})
            rows.loc[labels, column] = [some[label] for label in labels]
    return rows


def hidden(rows, mask):
    masked = [column for column in mask if column in rows.columns]
    return rows.assign(**{column: HIDDEN for column in masked}) if masked else rows


def write_all(rows, folder):
    # What hangs on a frame has no place in a file.
    rows.attrs = {}
    if len(rows) <= TEXT_ROWS_MAX:
        # Texts, and what is mixed with them.
        rows = rows.apply(lambda column: column.map(harmless) if column.dtype.kind in "OSU" else column)
        rows.rename(columns=harmless).to_csv(folder / "failed_rows.csv", index=False)
        return "failed_rows.csv"
    rows.to_parquet(folder / "failed_rows.parquet", index=False)
    return "failed_rows.parquet"
