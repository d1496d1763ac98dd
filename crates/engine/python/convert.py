"""Reads one data file and leaves its tables as Arrow files, with what is known of their columns.

It runs in a cell, because data files are hostile: a parser that is led astray is led astray in a jail. The tables are
written so that `frame` can map them without copying: floating point keeps its not-a-number, texts have wide offsets,
times stand as plain numbers.

Given: `source`, the name of the mounted file; `form`, how it is written; `packing`, how it is compressed; `known`, the
columns of a table of the store and their types, or None.
Set: `tables`, one record for each table, or `problem`, one sentence.
"""

import bz2
import csv
import datetime
import decimal
import gzip
import io
import json
import lzma
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa

# Values that a column is judged by when its texts may be times.
LOOKED_AT = 1000
TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?")
SAMPLES = 5
DISTINCT_MAX = 20
NOTED = 5


class Unreadable(Exception):
    """The file cannot be read as what it claims to be; the message says why."""


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
    if b"\0" in data:
        raise Unreadable("the file holds NUL bytes: it is not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        notes.append(f"line {line} is not UTF-8; the file is read as Windows-1252")
        return data.decode("cp1252", "replace")


def separator_of(text, form):
    if form == "tsv":
        return "\t"
    head = text[:20_000]
    first = head.splitlines()[0]
    counts = {character: first.count(character) for character in ",;\t|"}
    best = max(counts, key=counts.get)
    return best if counts[best] else ","


def from_text(text, form, notes):
    separator = separator_of(text, form)
    if separator != ("\t" if form == "tsv" else ","):
        notes.append(f"columns are separated by {separator!r}")
    names = next(csv.reader(io.StringIO(text), delimiter=separator))
    seen = set()
    for name in names:
        if name in seen:
            notes.append(f"two columns are called {name!r}; the later one is numbered")
        seen.add(name)
    try:
        with warnings.catch_warnings():
            # Without this a first line that is too long would lose its last fields.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.StringIO(text), sep=separator, low_memory=False, index_col=False)
    except pd.errors.ParserWarning:
        require_whole_lines(text, separator, len(names))
        raise Unreadable("its lines do not have as many fields as its header") from None
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found:
            wanted, line, saw = found.groups()
            raise Unreadable(f"line {line} has {saw} fields where the header has {wanted}") from None
        raise Unreadable(f"it does not read as a table: {str(error).strip()}") from None
    except (pd.errors.EmptyDataError, StopIteration):
        raise Unreadable("the file is empty") from None
    # A line that is too short ends in gaps; only then is it worth counting fields.
    if len(frame) and frame.iloc[:, -1].isna().any():
        require_whole_lines(text, separator, len(names))
    return frame


def require_whole_lines(text, separator, wanted):
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    for fields in reader:
        if fields and len(fields) != wanted:
            raise Unreadable(f"line {reader.line_num} has {len(fields)} fields where the header has {wanted}")


def from_json(text):
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) == 1 and all(isinstance(row, dict) for row in lists[0]):
            value = lists[0]
        elif lists and len(lists) == len(value) and len({len(item) for item in lists}) == 1:
            return pd.DataFrame(value)
        else:
            value = [value]
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Unreadable("it is not a list of records")
    return pd.DataFrame(value)


def from_lines(text, names):
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
    return pd.DataFrame(rows, columns=names)


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
        sheets = pd.read_excel(whole(path, packing), sheet_name=None)
    except Exception as error:
        raise Unreadable(f"it does not read as a workbook: {error}") from None
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet.columns)}
    if not filled:
        raise Unreadable("the workbook has no sheet with a header")
    return filled if len(filled) > 1 else {None: next(iter(filled.values()))}


# --- columns ---------------------------------------------------------------------------------------------------------


def settled(values, notes, name):
    """A column of one clear kind: (values, type). Mixed values become text."""
    kind = values.dtype.kind
    if isinstance(values.dtype, pd.CategoricalDtype):
        return settled(values.astype(values.cat.categories.dtype), notes, name)
    if kind == "b":
        return values, "boolean"
    if kind in "iu":
        return values, "integer"
    if kind == "f":
        present = values.dropna()
        whole = len(present) < len(values) and len(present) and bool((present % 1 == 0).all())
        return values, ("text" if not len(present) and len(values) else "integer" if whole else "real")
    if kind == "M":
        return values, "timestamp"
    if isinstance(values.dtype, pd.StringDtype):
        return values, "timestamp" if looks_like_times(values) else "text"
    return settle_objects(values, notes, name)


def settle_objects(values, notes, name):
    present = values.dropna()
    kinds = {type(value) for value in present}
    if not kinds:
        return values.astype("str"), "text"
    if kinds <= {bool, np.bool_}:
        return values, "boolean"
    if kinds <= {decimal.Decimal, int, float, bool}:
        return values.astype("float64"), "real"
    if kinds <= {datetime.date, datetime.datetime, pd.Timestamp}:
        return pd.to_datetime(values, errors="coerce"), "timestamp"
    if kinds & {dict, list}:
        return values.map(lambda value: json.dumps(value, default=str), na_action="ignore").astype("str"), "json"
    texts = values.map(str, na_action="ignore").astype("str")
    if kinds != {str}:
        notes.append(f"column {name!r} holds values of several kinds; all are read as text")
        return texts, "text"
    return texts, "timestamp" if looks_like_times(texts) else "text"


def looks_like_times(values):
    """Nine of ten texts are times as ISO 8601 writes them: a few slips do not make a column of times one of words."""
    present = values.dropna().head(LOOKED_AT)
    return len(present) > 0 and sum(bool(TIME.fullmatch(value)) for value in present) >= 0.9 * len(present)


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


def described(name, values, column_type):
    nulls = int(values.isna().sum())
    head = values.dropna().head(100_000)
    distinct = head.drop_duplicates()
    plain = lambda items: [item if isinstance(item, (str, int, float, bool)) else str(item) for item in items.tolist()]
    return {
        "name": name,
        "type": column_type,
        "nullable": nulls > 0,
        "null_share": nulls / len(values) if len(values) else 0.0,
        "samples": [value if not isinstance(value, str) else value[:80] for value in plain(distinct.head(SAMPLES))],
        "values": plain(distinct) if 0 < len(distinct) <= DISTINCT_MAX else None,
        "is_unique": bool(len(distinct) == len(head)) and nulls == 0,
    }


def written(number, sheet, frame, notes):
    notes = list(notes)
    frame = frame.reset_index(drop=True)
    columns, arrays, names = [], [], []
    for place, label in enumerate(frame.columns):
        name = str(label)
        if name.startswith("Unnamed: "):
            notes.append(f"column {place + 1} has no name and is called {name!r}")
        while name in names:
            name += ".1"
        values, column_type = settled(frame.iloc[:, place], notes, name)
        column_type = (known or {}).get(name, column_type)
        names.append(name)
        columns.append(described(name, values, column_type))
        arrays.append(as_array(values))
    table = pa.Table.from_arrays(arrays, names=names)
    target = f"{number}.arrow"
    with pa.ipc.new_file(str(artifacts / target), table.schema) as writer:
        writer.write_table(table)
    kept = notes[:NOTED] + ([f"and {len(notes) - NOTED} more notes"] if len(notes) > NOTED else [])
    return {"sheet": sheet, "file": target, "rows": len(frame), "columns": columns, "notes": kept}


def converted(path):
    notes = []
    if form == "xlsx":
        frames = from_workbook(path, packing)
    elif form in ("parquet", "feather"):
        frames = {None: from_columns(path, packing, form)}
    else:
        text = text_of(path, packing, notes)
        if form == "json":
            frames = {None: from_json(text)}
        elif form == "jsonl":
            frames = {None: from_lines(text, None if known is None else list(known))}
        else:
            frames = {None: from_text(text, form, notes)}
    return [written(number, sheet, frame, notes) for number, (sheet, frame) in enumerate(frames.items())]


tables, problem = [], None
try:
    tables = converted(files[source])
except Unreadable as error:
    problem = str(error)
except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile) as error:
    problem = f"it cannot be unpacked: {error}"
