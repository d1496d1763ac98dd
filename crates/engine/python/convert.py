"""Reads one data file and leaves its tables as Arrow files, with what is known of their columns.

It runs in a cell, because data files are hostile: a parser that is led astray is led astray in a jail. How columns are
read is decided by `ordain_reading`, on all of their values. The tables are written so that `frame` can map them without
copying: floating point keeps its not-a-number, texts have wide offsets, times stand as plain numbers. Values that do
not fit their column are kept beside the table, by their places.

Given: `source`, the name of the mounted file; `form`, how it is written; `packing`, how it is compressed; `known`, the
columns of a table of the store and their types, or None; `declared`, what the owner says about the file.
Set: `tables`, one record for each table, or `problem`, one sentence.
"""

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import zipfile

import numpy as np
import ordain_reading as reading
import pandas as pd
import pyarrow as pa

SAMPLES = 5
DISTINCT_MAX = 20
NOTED = 8
# Texts above this are cut into fields by Arrow.
QUICK_BYTES = 1 << 20
# The end of a text in which remarks below the table are looked for.
TAIL_CHARACTERS = 1 << 13
# What a type that was found is called in a schema.
SCHEMA_TYPES = {
    "integer": "integer", "real": "real", "decimal": "real", "percent": "real", "duration": "real", "boolean": "boolean",
    "date": "timestamp", "timestamp": "timestamp", "json": "json",
}
Unreadable = reading.Unreadable


# --- text ------------------------------------------------------------------------------------------------------------


def opened(path, packing):
    """The file's bytes, unpacked as they are read."""
    if packing == "gz":
        return gzip.open(path, "rb")
    if packing == "bz2":
        return bz2.open(path, "rb")
    if packing == "xz":
        return lzma.open(path, "rb")
    if packing == "zip":
        archive = zipfile.ZipFile(path)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise Unreadable(f"the archive holds {len(names)} files; one is expected")
        return archive.open(names[0])
    if packing == "zst":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return open(path, "rb")


def text_of(path, packing, notes):
    """The file's text. What is not UTF-8 is read as Windows-1252, and that is noted."""
    with opened(path, packing) as file:
        data = file.read()
    if not data.strip() and known is None:
        raise Unreadable("the file is empty")
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            notes.append(f"the file begins with a byte order mark and is read as {encoding}")
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise Unreadable(f"byte {error.start} is not {encoding}") from None
    if declared.get("encoding"):
        try:
            return data.decode(declared["encoding"])
        except (UnicodeDecodeError, LookupError) as error:
            raise Unreadable(f"it is not {declared['encoding']}: {error}") from None
    if b"\0" in data:
        raise Unreadable("the file holds NUL bytes: it is not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        notes.append(f"line {line} is not UTF-8; the file is read as Windows-1252")
        return data.decode("cp1252", "replace")


class Raw:
    """A table as it lies in its file: a frame of undecided values, and where its first row stands."""

    def __init__(self, frame, notes=(), units=None, first_row=1, exact=False):
        self.frame, self.notes, self.units, self.first_row, self.exact = frame, list(notes), units or {}, first_row, exact


def from_text(text, form, notes):
    separator = declared.get("delimiter") or ("\t" if form == "tsv" else reading.delimiter_of(text[: 1 << 16], len(text) > 1 << 16))
    if separator != ("\t" if form == "tsv" else ","):
        notes.append(f"columns are separated by {separator!r}")
    csv.field_size_limit(1 << 24)
    head = list(itertools.islice(csv.reader(io.StringIO(text[: 1 << 20], newline=""), delimiter=separator), reading.HEAD_ROWS))
    if not any(head):
        raise Unreadable("the file is empty")
    start, names, units, said = reading.laid_out(head, declared.get("header_row"))
    facts = {"delimiter": separator, "skip": start}
    frame = None
    if len(text) > QUICK_BYTES and not any("\n" in cell for row in head[:start] for cell in row):
        frame = reading.raw_text_quickly(text.encode(), facts, names)
    if frame is None:
        frame = reading.raw_text(io.StringIO(text, newline=""), facts, names)
    frame = reading.trimmed(frame)
    tail = csv.reader(io.StringIO(text[-TAIL_CHARACTERS:], newline=""), delimiter=separator)
    cut, remark = reading.remarks_below(list(tail)[1:], len(names))
    if remark and cut < len(frame):
        frame = reading.trimmed(frame.iloc[:-cut])
        said.append(remark)
    # A line that is too short ends in gaps; only then is it worth counting fields.
    if len(frame) and (frame.iloc[:, -1] == "").any():
        require_whole_lines(text, separator, start, len(names), len(frame))
    return Raw(frame, [*notes, *said], units, start + 1)


def require_whole_lines(text, separator, start, wanted, rows):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    body = (fields for number, fields in enumerate(reader) if number >= start and fields)
    for fields in itertools.islice(body, rows):
        if len(fields) != wanted:
            raise Unreadable(f"line {reader.line_num} has {len(fields)} fields where the header has {wanted}")


def from_json(text, notes):
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) == 1 and all(isinstance(row, dict) for row in lists[0]):
            value = lists[0]
        elif lists and len(lists) == len(value) and len({len(item) for item in lists}) == 1:
            return {None: Raw(pd.DataFrame(value, dtype="object"), notes)}
        else:
            value = [value]
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Unreadable("it is not a list of records")
    return with_inner_tables(value, notes)


def with_inner_tables(rows, notes):
    """Records, and the lists of objects within them as tables of their own."""
    records = reading.records_of(rows)
    inner = {name: Raw(objects(part)) for name, part in reading.inner_tables(records).items()}
    return {None: Raw(objects(records), notes)} | inner


def from_lines(text, names, notes):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise Unreadable(f"line {number} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise Unreadable(f"line {number} is not a record")
        rows.append(row)
    return with_inner_tables(rows, notes) if names is None else {None: Raw(objects(rows, names), notes)}


def objects(rows, names=None):
    """Records as a frame of the very values that they hold: pandas would make gaps of whole numbers not-a-number."""
    names = list(dict.fromkeys(name for row in rows for name in row)) if names is None else names
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype="object") for name in names}, columns=names)


# --- binary formats --------------------------------------------------------------------------------------------------


def whole(path, packing):
    """A file that is read by places rather than from its beginning: itself, or what it unpacks to."""
    if packing is None:
        return path
    with opened(path, packing) as file:
        return io.BytesIO(file.read())


def from_columns(path, packing, form):
    try:
        file = whole(path, packing)
        if form == "parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(file)
        else:
            import pyarrow.feather

            table = pyarrow.feather.read_table(file)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise Unreadable(f"it does not read as {form}: {error}") from None
    return table.to_pandas()


def from_workbook(path, packing):
    try:
        sheets = pd.read_excel(whole(path, packing), sheet_name=None, header=None, dtype="object", na_filter=False)
    except Exception as error:
        raise Unreadable(f"it does not read as a workbook: {error}") from None
    if declared.get("sheet"):
        if declared["sheet"] not in sheets:
            raise Unreadable(f"it has no sheet {declared['sheet']!r}; there are {', '.join(map(repr, sheets))}")
        sheets = {declared["sheet"]: sheets[declared["sheet"]]}
    filled = {}
    for name, sheet in sheets.items():
        rows = sheet.head(reading.HEAD_ROWS).values.tolist()
        if not any(not reading.is_blank(cell) for row in rows for cell in row):
            continue
        start, names, units, notes = reading.laid_out(rows, declared.get("header_row"))
        body = sheet.iloc[start:].reset_index(drop=True).reindex(columns=range(len(names)))
        body.columns = names
        body = reading.trimmed(body)
        cut, remark = reading.remarks_below(body.tail(reading.HEAD_ROWS).values.tolist(), len(names))
        if remark and cut < len(body):
            body = reading.trimmed(body.iloc[:-cut])
            notes.append(remark)
        filled[name] = Raw(body, notes, units, start + 1)
    if not filled:
        raise Unreadable("the workbook has no sheet with a header")
    return filled if len(filled) > 1 else {None: next(iter(filled.values()))}


# --- columns ---------------------------------------------------------------------------------------------------------


def decided(raw):
    """The readings of a table's columns, by name."""
    said, table = declared.get("columns", {}), dict(declared.get("table", {})) | ({"exact": True} if raw.exact else {})
    ready = {}
    if not raw.exact and not table:
        quick = ((str(name), reading.quickly_decided(str(name), raw.frame[name])) for name in raw.frame.columns if name not in said)
        ready = {name: one for name, one in quick if one is not None}
    counts = [(str(name), {} if str(name) in ready else reading.counted(raw.frame[name])) for name in raw.frame.columns]
    found = {one["name"]: one for one in reading.decide_all(counts, said, table, ready)}
    for place, unit in raw.units.items():
        found[str(raw.frame.columns[place])].setdefault("unit", unit)
    return found


def of_store(values, column_type):
    """A column of the store: its type is known, and its texts are what they are."""
    kind = {"integer": "integer", "real": "real", "boolean": "boolean", "timestamp": "timestamp"}.get(column_type)
    if kind is None:
        as_json = lambda value: json.dumps(value, default=str) if column_type == "json" or not isinstance(value, str) else value  # noqa: E731
        return values.map(as_json, na_action="ignore").astype("str"), {"type": "json" if column_type == "json" else "text", "notes": []}
    one = reading.decide("", reading.counted(values), {"exact": True}, {"type": kind})
    return None, one


def as_array(values):
    """A column as `frame` can map it."""
    kind = values.dtype.kind
    if kind == "f":
        return pa.array(values.to_numpy(dtype="float64"), from_pandas=False)
    if kind == "M":
        zone = getattr(values.dtype, "tz", None)
        plain = values.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else values
        numbers = plain.to_numpy().astype("M8[us]").view("i8")
        kind_of = pa.timestamp("us", tz="UTC" if zone is not None else None)
        return pa.Array.from_buffers(kind_of, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])
    if isinstance(values.dtype, pd.StringDtype):
        texts = pa.array(values, from_pandas=True)
        return (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).cast(pa.large_string())
    return pa.array(values, from_pandas=True)


def described(name, values, column_type, one):
    nulls = int(values.isna().sum())
    head = values.dropna().head(100_000)
    distinct = head.drop_duplicates()
    plain = lambda items: [item if isinstance(item, (str, int, float, bool)) else str(item).removesuffix(" 00:00:00") for item in items.tolist()]  # noqa: E731
    return {
        "name": name,
        "type": column_type,
        "nullable": nulls > 0,
        "null_share": nulls / len(values) if len(values) else 0.0,
        "samples": [value if not isinstance(value, str) else value[:80] for value in plain(distinct.head(SAMPLES))],
        "values": plain(distinct) if 0 < len(distinct) <= DISTINCT_MAX else None,
        "is_unique": bool(len(distinct) == len(head)) and nulls == 0,
        "reading": {key: value for key, value in one.items() if key not in ("name", "missing")},
    }


def written(number, sheet, raw):
    frame, notes = raw.frame.reset_index(drop=True), list(raw.notes)
    frame.columns = reading.unique_names([str(name) for name in frame.columns], notes)
    readings = {} if known is not None else decided(raw)
    total = None
    if len(frame) > 2 and known is None:
        last = frame.iloc[-1].tolist()
        if reading.is_total(last):
            total = reading.total_of(last, [frame[name].tolist() for name in frame.columns], list(readings.values()))
    if total:
        notes.append(total)
        raw = Raw(frame.iloc[:-1], (), raw.units, raw.first_row, raw.exact)
        frame, readings = raw.frame, decided(raw)
    among = reading.totals_among(frame.iloc[: reading.REPORT_ROWS_MAX + 1, 0].tolist(), raw.first_row) if known is None and not raw.exact and len(frame.columns) else None
    notes += [among] if among else []
    columns, arrays, misfits = [], [], {}
    for name in frame.columns:
        values = None
        if known is not None:
            values, one = of_store(frame[name], known.get(name))
            one["name"] = name
        else:
            one = readings[name]
        if values is None:
            values, wrong = typed_column(frame[name], one)
            if wrong:
                misfits[name] = wrong
                rows = [place + raw.first_row for place in list(wrong)[: reading.TOLD_MAX]]
                one["misfits"] = {"count": len(wrong), "rows": rows, "values": list(wrong.values())[: reading.TOLD_MAX]}
                one["notes"].insert(0, reading.misfit_note(one, rows, list(wrong.values()), len(wrong)))
        notes += [f"{name}: {note}" for note in one["notes"]]
        column_type = (known or {}).get(name) or SCHEMA_TYPES.get(one["type"], "text")
        columns.append(described(name, values, column_type, one))
        arrays.append(as_array(values))
    table = pa.Table.from_arrays(arrays, names=list(frame.columns))
    table = table.replace_schema_metadata({"ordain.misfits": json.dumps(misfits), "ordain.first_row": str(raw.first_row)})
    target = f"{number}.arrow"
    with pa.ipc.new_file(str(artifacts / target), table.schema) as writer:
        writer.write_table(table)
    kept = notes[:NOTED] + ([f"and {len(notes) - NOTED} more notes"] if len(notes) > NOTED else [])
    return {"sheet": sheet, "file": target, "rows": len(frame), "columns": columns, "notes": kept}


def typed_column(values, one):
    if reading.is_native(values, one):
        if one["type"] == "json":
            return values.map(lambda value: json.dumps(value, default=str), na_action="ignore").astype("str"), {}
        return values, {}
    column, wrong = reading.typed(values, one)
    return column.dt.tz_localize("UTC") if one.get("zone") and column.dtype.kind == "M" else column, wrong


def converted(path):
    notes = []
    if form == "xlsx":
        raws = from_workbook(path, packing)
    elif form in ("parquet", "feather"):
        raws = {None: Raw(from_columns(path, packing, form), exact=True)}
    else:
        text = text_of(path, packing, notes)
        if form == "json":
            raws = from_json(text, notes)
        elif form == "jsonl":
            raws = from_lines(text, None if known is None else list(known), notes)
        else:
            raws = {None: from_text(text, form, notes)}
    return [written(number, sheet, raw) for number, (sheet, raw) in enumerate(raws.items())]


tables, problem = [], None
try:
    tables = converted(files[source])
except Unreadable as error:
    problem = str(error)
except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile) as error:
    problem = f"it cannot be unpacked: {error}"
