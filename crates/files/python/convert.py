"""Reads one data file and leaves its tables as Arrow files, with what is known of their columns.

It runs in a cell, because data files are hostile: a parser that is led astray is led astray in a jail. How columns are
read is decided by `ordain_reading`, on all of their values. The parts in `inspect` stand before this one in the program
for a file that is neither text nor columns on disk: they find its tables. Text and columns may be long and are read here. The
tables are written so that `frame` can map them without copying: floating point keeps its not-a-number, texts have wide
offsets, times stand as plain numbers. Values that do not fit their column are kept beside the table, by their places.

Given: `source`, the name of the mounted file; `name`, its own name; `form`, how it is written; `packing`, how it is
compressed; `known`, the columns of a table of the store and their types, or None; `declared`, what the owner says about
the file; `settings` of the parts before.
Set: `tables`, one record for each table, or `problem`, one sentence.
"""

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import itertools
import json
import lzma
import mmap
import pathlib
import shutil
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import ordain_reading as reading
import pandas as pd
import pyarrow as pa

SAMPLES = 5
DISTINCT_MAX = 20
# As many columns as a sheet of a workbook may have are read; of more than a few thousand less is told.
COLUMNS_MAX, TOLD_COLUMNS_MAX = 16_384, 2_000
NOTED = 8
# Columns that are worked on at once.
THREADS = 2
# Texts above this are read in blocks.
QUICK_BYTES = 1 << 20
# The end of a text in which remarks below the table are looked for.
TAIL_BYTES = 1 << 13
# Files that are often no table at all, which is no problem then.
MAY_BE_TEXT = ("dat", "txt", "xml", "yaml", "yml")
# What a type that was found is called in a schema.
SCHEMA_TYPES = {
    "integer": "integer", "real": "real", "decimal": "real", "percent": "real", "duration": "real", "boolean": "boolean",
    "date": "timestamp", "timestamp": "timestamp", "json": "json",
}
Unreadable = reading.Unreadable
DECLARED = declared  # noqa: F821 - given by the host


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


def utf8_of(path, packing, notes):
    """The bytes of a file's text in UTF-8; where nothing says how they are written they may turn out to be something else."""
    if packing is None and path.stat().st_size:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    else:
        with opened(path, packing) as file:
            data = file.read()
    if not data[:QUICK_BYTES].strip() and not data[:].strip():
        raise Unreadable("the file is empty")
    start = data[:3]
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if start.startswith(mark):
            notes.append(f"the file begins with a byte order mark and is read as {encoding}")
            try:
                return data[:].decode(encoding).encode()
            except UnicodeDecodeError as error:
                raise Unreadable(f"byte {error.start} is not {encoding}") from None
    if declared.get("encoding"):
        if problem := reading.unknown_encoding(declared["encoding"]):
            raise Unreadable("; ".join(problem))
        try:
            return data[:].decode(declared["encoding"]).encode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"it is not {declared['encoding']}: {error}") from None
    if np.frombuffer(data, "u1").min() == 0:
        raise Unreadable("the file holds NUL bytes: it is not text")
    return data


class Raw:
    """A table as it lies in its file: a frame of undecided values but for columns that are `ready`, the counts of values that
    are known already, and where its first row stands."""

    def __init__(self, frame, notes=(), units=None, first_row=1, exact=False, readings=None, stored=None, ready=None, counts=None):
        self.frame, self.notes, self.units, self.first_row, self.exact = frame, list(notes), units or {}, first_row, exact
        self.readings, self.stored, self.ready, self.counts = readings, stored or {}, ready or {}, counts or {}


def from_text(path, packing, form):
    """A table of text. What is not UTF-8 is read as Windows-1252, and that is noted."""
    notes = []
    data = utf8_of(path, packing, notes)
    try:
        return from_utf8(data, form, notes)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        notes.append(f"line {line} is not UTF-8; the file is read as Windows-1252")
        return from_utf8(data[:].decode("cp1252", "replace").encode(), form, notes)


def from_utf8(data, form, notes):
    # The end of these bytes may be within a character.
    start = codecs.getincrementaldecoder("utf-8")().decode(data[:QUICK_BYTES])
    separator = declared.get("delimiter") or ("\t" if form == "tsv" else reading.delimiter_of(start[: 1 << 16], len(start) > 1 << 16))
    cut_into = lambda text: csv.reader(io.StringIO(text, newline=""), delimiter=separator)  # noqa: E731
    csv.field_size_limit(1 << 24)
    head = list(itertools.islice(cut_into(start), reading.HEAD_ROWS))
    if not any(head):
        raise Unreadable("the file is empty")
    skip, names, units, said = reading.laid_out(head, declared.get("header_row"))
    said = [*reading.unseen_delimiter(declared.get("delimiter"), start), *said]
    if separator != ("\t" if form == "tsv" else ","):
        said.insert(0, f"columns are separated by {separator!r}")
    tail = list(cut_into(data[-TAIL_BYTES:].decode("utf-8", "replace")))[1:]
    cut, remark = reading.remarks_below(tail, len(names))
    facts, found = {"delimiter": separator, "skip": skip}, None
    if len(data) > QUICK_BYTES and not any("\n" in cell for row in head[:skip] for cell in row):
        # Below the rows there may be what is none of them, and has other values.
        ends = tail and not remark and not all(map(reading.is_blank, tail[-1])) and not reading.is_total(tail[-1])
        is_open = lambda name: bool(ends) and not declared.get("table") and name not in declared.get("columns", {})  # noqa: E731
        found = reading.raw_blocks(data, facts, names, is_open)
    is_even = found is not None
    if not is_even:
        text = data[:].decode("utf-8")
        found = reading.raw_text(io.StringIO(text, newline=""), facts, names), {}, {}
    frame, ready, counts = found
    rows, frame = len(frame), reading.trimmed(frame)
    if remark and cut < len(frame):
        frame = reading.trimmed(frame.iloc[:-cut])
        said.append(remark)
    # A line that is too short ends in gaps; only then is it worth counting fields.
    if not is_even and len(frame) and (frame.iloc[:, -1] == "").any():
        require_whole_lines(cut_into(text), skip, len(names), len(frame))
    return Raw(frame, [*notes, *said], units, skip + 1, ready=ready, counts=counts if len(frame) == rows else None)


def require_whole_lines(reader, start, wanted, rows):
    body = (fields for number, fields in enumerate(reader) if number >= start and fields)
    for fields in itertools.islice(body, rows):
        if len(fields) != wanted:
            raise Unreadable(f"line {reader.line_num} has {len(fields)} fields where the header has {wanted}")


def from_store(text, names):
    """A table of the store, which comes as lines of JSON."""
    rows = [json.loads(line) for line in text.split("\n") if line]
    return Raw(reading.objects(rows, names))


# --- binary formats --------------------------------------------------------------------------------------------------


def seekable(path, packing):
    """A file that is read by places rather than from its beginning: itself, or what it unpacks to."""
    if packing is None:
        return path
    with opened(path, packing) as file:
        return io.BytesIO(file.read())


def from_columns(path, packing, form):
    try:
        file = seekable(path, packing)
        if form == "parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(file)
        else:
            import pyarrow.feather

            table = pyarrow.feather.read_table(file)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise Unreadable(f"it does not read as {form}: {error}") from None
    return Raw(reading.with_index(table.to_pandas()), exact=True, stored={field.name: field.type for field in table.schema})


# --- everything else: the tables that a look into the file finds ------------------------------------------------------


def looked_into(path):
    """The tables of a file as a question about it gets them, by the names that tell them apart."""
    inner = name
    if packing is not None:
        inner = name.rsplit(".", 1)[0]
        path = unpacked(path, inner)
    facts = facts_of(inner, path)
    if "problem" in facts:
        raise Unreadable(facts["problem"])
    facts["kind"] = facts.get("format") or inner.rsplit(".", 1)[-1].lower()
    found = [table for table in facts.get("tables", ()) if table["columns"]]
    if not found and form not in MAY_BE_TEXT:
        raise Unreadable("no table was found in it; " + facts.get("note", "give it in another form"))
    notes = [facts["note"]] if "note" in facts else []
    return {called: raw_of(path, facts, table, notes) for called, table in zip(names_of(found), found)}


def unpacked(path, inner):
    target = pathlib.Path(tempfile.mkdtemp()) / inner
    with opened(path, packing) as file, open(target, "wb") as copy:
        shutil.copyfileobj(file, copy)
    return target


def names_of(tables):
    """What tables of one file are called: nothing where there is one beside those within its rows."""
    outer = [table for table in tables if not table.get("inner_list")]
    short_names = [pathlib.PurePosixPath(table["name"] or "").stem if table.get("member") else table["name"] for table in tables]
    if len(outer) == 1:
        return [table.get("inner_list") for table in tables]
    return short_names if len(set(short_names)) == len(tables) else [table["name"] for table in tables]


def raw_of(path, facts, table, notes):
    frame, first_row = reading.raw_table(path, facts, table)
    frame.columns = [str(column) for column in frame.columns]
    if table.get("left_out"):
        frame = reading.trimmed(frame.iloc[: -table["left_out"]])
    # What does not fit is told again when the values are read.
    told = lambda column: column.get("notes", [])["misfits" in column :]  # noqa: E731
    readings = {column["name"]: {key: column[key] for key in column if key not in DESCRIBING} | {"present": column["present"], "notes": list(told(column))} for column in table["columns"]}
    return Raw(frame, [*notes, *table.get("notes", [])], first_row=first_row, readings=readings)


# --- columns ---------------------------------------------------------------------------------------------------------


def side_by_side(work, items, rows):
    """What some work on columns of so many rows gives for each. On long ones it is mostly Arrow's, which leaves the
    interpreter to others meanwhile."""
    if rows >= reading.QUICK_FROM:
        try:
            with ThreadPoolExecutor(THREADS) as threads:
                return list(threads.map(work, items))
        except RuntimeError:
            # The limits allow no further thread.
            pass
    return [work(item) for item in items]


def decided(raw):
    """The readings of a table's columns by name, and what to say of them together."""
    said, table = declared.get("columns", {}), dict(declared.get("table", {})) | ({"exact": True} if raw.exact else {})
    ready = dict(raw.ready)
    if not raw.exact and not table:
        undeclared = [(str(name), raw.frame[name]) for name in raw.frame.columns if name not in said and name not in ready and name not in raw.counts]
        quick = side_by_side(lambda column: reading.quickly_decided(*column), undeclared, len(raw.frame))
        ready |= {one["name"]: one for one in quick if one is not None}
    counted = lambda name: {} if name in ready else raw.counts.get(name) or reading.counted(raw.frame[name])  # noqa: E731
    counts = [(str(name), counted(name)) for name in raw.frame.columns]
    found = {one["name"]: reading.as_stored(one, raw.stored.get(one["name"])) for one in reading.decide_all(counts, said, table, ready)}
    for place, unit in raw.units.items():
        found[str(raw.frame.columns[place])].setdefault("unit", unit)
    return found, reading.of_table(list(found.values()), counts)


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
        return pa.array(values.to_numpy(dtype="float64", na_value=np.nan), from_pandas=False)
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
    # A value that does not fit is there all the same.
    gaps = int(values.isna().sum())
    nulls = gaps - one.get("misfits", {}).get("count", 0)
    head = (values.dropna() if gaps else values).head(100_000)
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
    if len(frame.columns) > COLUMNS_MAX:
        notes.insert(0, reading.beyond_note(list(frame.columns), COLUMNS_MAX))
        frame = frame.iloc[:, :COLUMNS_MAX]
        units = {place: unit for place, unit in raw.units.items() if place < COLUMNS_MAX}
        raw = Raw(frame, (), units, raw.first_row, raw.exact, raw.readings, raw.stored, raw.ready, raw.counts)
    frame.columns = reading.unique_names([str(name) for name in frame.columns], notes)
    doubled = [name for name in frame.columns if reading.doubled_note(name) in notes]
    is_open = known is None and raw.readings is None
    if is_open:
        notes = [*reading.undeclared(frame.columns, declared.get("columns")), *notes]
    readings, said = decided(raw) if is_open else (raw.readings, [])
    total = None
    if len(frame) > 2 and is_open and not raw.exact:
        last = frame.iloc[-1].tolist()
        if reading.is_total(last) or len(frame) <= reading.ADDED_ROWS_MAX:
            values = [frame[name].tolist() for name in frame.columns]
            total = reading.total_of(last, values, list(readings.values()))
            told = None if total else reading.sum_of_others(last, values, list(readings.values()))
            notes += [told] if told else []
    if total:
        notes.append(total)
        raw = Raw(frame.iloc[:-1], (), raw.units, raw.first_row, raw.exact)
        frame, (readings, said) = raw.frame, decided(raw)
    is_report = is_open and not raw.exact and len(frame) <= reading.REPORT_ROWS_MAX
    if is_report:
        rows = frame.values.tolist()
        told = (reading.totals_among(rows, raw.first_row), reading.repeated_header(rows, list(frame.columns), raw.first_row))
        notes += filter(None, told)
    notes += said
    columns, misfits = [], {}
    as_written = lambda name: frame[name] if is_as_written(readings[name], raw.counts.get(name)) else None  # noqa: E731
    given = [(frame[name], *(of_store(frame[name], known.get(name)) if known is not None else (as_written(name), readings[name]))) for name in frame.columns]
    made = side_by_side(lambda column: typed_column(*column), given, len(frame))
    for name, (_, _, one), (values, wrong, _) in zip(frame.columns, given, made):
        one["name"] = name
        if form := form_of(frame[name], values, one):
            one["form"] = form
        if wrong:
            misfits[name] = wrong
            rows = [place + raw.first_row for place in list(wrong)[: reading.TOLD_MAX]]
            one["misfits"] = {"count": len(wrong), "rows": rows, "values": list(wrong.values())[: reading.TOLD_MAX]}
            one["notes"].insert(0, reading.misfit_note(one, rows, list(wrong.values()), len(wrong)))
        notes += [f"{name}: {note}" for note in one["notes"]]
        if name in doubled:
            one["doubled"] = True
        column_type = (known or {}).get(name) or SCHEMA_TYPES.get(one["type"], "text")
        columns.append(described(name, values, column_type, one))
    for column in columns if len(columns) > TOLD_COLUMNS_MAX else ():
        column |= {"samples": []} if column["type"] == "text" else {"samples": [], "values": None}
    table = pa.Table.from_arrays([array for _, _, array in made], names=list(frame.columns))
    table = table.replace_schema_metadata({"ordain.misfits": json.dumps(misfits), "ordain.first_row": str(raw.first_row)})
    target = f"{number}.arrow"
    with pa.ipc.new_file(str(artifacts / target), table.schema) as writer:
        writer.write_table(table)
    kept = notes[:NOTED] + ([f"and {len(notes) - NOTED} more notes"] if len(notes) > NOTED else [])
    return {"sheet": sheet, "file": target, "rows": len(frame), "columns": columns, "notes": kept}


def is_as_written(one, counts):
    """Whether the values of a column are its texts, by the counts of these."""
    is_plain = one["type"] in reading.TEXTS and not one.get("null_values") and not one.get("formula_text")
    return bool(is_plain and counts and all(text.strip() for text in counts))


# How the cells of a column are written, so that rules can judge their texts: by type the form's name and its pattern, and the
# share of the different texts that have to be so. A time of the day may be misspelt here and there.
FORMS = {"integer": ("digits", r"-?(0|[1-9]\d*)", 1), "date": ("iso_day", r"\d{4}-\d\d-\d\d", 1)}
CLOCK = ("clock", r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?( ?[AaPp][Mm])?", 0.9)


def form_of(raw, values, one):
    """How all cells are written that were read, if it is plain."""
    name, pattern, share = FORMS.get(one["type"]) or (CLOCK if one["type"] in reading.TEXTS else (None, None, 1))
    # Most columns show at their head that they are not written so.
    for some in (raw.head(1000), raw) if name else ():
        texts = some[values[: len(some)].notna()].drop_duplicates()
        if not len(texts) or not all(isinstance(text, str) for text in texts) or texts.str.fullmatch(pattern).mean() < share:
            return None
    return name


def typed_column(raw, values, one):
    """A column with its type, the values that do not fit it, and the same as `frame` can map it."""
    wrong = {}
    if values is None and reading.is_native(raw, one):
        values = raw
        if one["type"] == "json":
            values = raw.map(lambda value: json.dumps(value, default=reading.plain_json), na_action="ignore").astype("str")
    elif values is None:
        values, wrong = reading.typed(raw, one)
        if one["type"] == "integer" and values.dtype.kind == "f":
            # A gap makes no fractions of the whole numbers around it.
            with contextlib.suppress(TypeError, ValueError):
                values = values.astype("Int64")
        values = values.dt.tz_localize("UTC") if one.get("zone") and values.dtype.kind == "M" else values
    return values, wrong, as_array(values)


def converted(path):
    if known is not None:
        raws = {None: from_store(path.read_text("utf-8"), list(known))}
    elif form in ("parquet", "feather"):
        raws = {None: from_columns(path, packing, form)}
    elif form in ("csv", "tsv"):
        raws = {None: from_text(path, packing, form)}
    else:
        raws = looked_into(path)
    return [written(number, sheet, raw) for number, (sheet, raw) in enumerate(raws.items())]


tables, problem = [], None
try:
    tables = converted(files[source])
except Unreadable as error:
    problem = str(error)
except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile) as error:
    problem = f"it cannot be unpacked: {error}"
