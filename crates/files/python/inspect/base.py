"""Looks into files, in a cell, and tells what they hold.

The parts of this folder are joined into one program and run where the files are hostile and nothing can be lost. Each
file is told about by one call to the host, so that a file which ends the cell takes no other's facts with it. Readers
are imported when a file needs them, because most of them are slow to import.
"""

import itertools
import json
import os
import re
import tempfile
import time
import warnings

import ordain_reading

warnings.simplefilter("ignore")

# What is told is bounded. As many columns as a sheet of a workbook may have are read.
COLUMNS_MAX = settings.get("columns_max", 16_384)  # noqa: F821 - given by the host
# What may be told about one file; the host takes twice as much.
FACTS_BYTES_MAX = 4 << 20
TABLES_MAX = 40
SETTINGS_MAX = 200
MEMBERS_MAX = 60
SAMPLES_MAX = 3
VALUES_MAX = 20
TEXT_MAX = 60
EXCERPT_MAX = 400
# A longer text or file of JSON lines is looked at piece by piece, which needs pandas.
CELLS_MAX = settings.get("cells_max", 1_000_000)  # noqa: F821 - given by the host
# A single file may take this long before only the cheap facts are told.
SECONDS_MAX = 10.0
# What may come out of an archive or a compressed file before it is taken for a bomb.
EXPANDED_BYTES_MAX = settings["expanded_bytes_max"]  # noqa: F821 - given by the host
RATIO_MAX = 200
# What the owner of the workspace declared about the file that is looked at.
DECLARED = {}
# Readers of whole trees (YAML, JSON, HTML) get at most this.
TREE_BYTES_MAX = settings.get("tree_bytes_max", 64 << 20)  # noqa: F821 - given by the host


class Problem(Exception):
    """A file cannot be told about: why, and what the person who gave it can do."""

    def __init__(self, what, remedy="make or fetch it again"):
        super().__init__(f"{what}; {remedy}")


def encrypted():
    return Problem("it is encrypted", "save it without a password and give that")


def too_large(size, what):
    return Problem(f"it is larger than the {size >> 20} MiB that are read as {what}", "give less at once")


def short(value, limit=TEXT_MAX):
    """A value as bounded text on one line."""
    text = value if isinstance(value, str) else str(value)
    text = " ".join(text[: limit * 4].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def sample(value):
    """A value as plain bounded data."""
    if value is None or isinstance(value, bool):
        return value
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        try:
            value = value.item()
        except Exception:
            return short(value)
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)[:40]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if hasattr(value, "isoformat"):
        return value.isoformat().removesuffix("T00:00:00")
    return short(value)


def head_of(path, size=1 << 16):
    with open(path, "rb") as file:
        return file.read(size)


# --- columns --------------------------------------------------------------------------------------------------------


def column_facts(reading, counts, rows, first_row, places_of, known=None):
    """Facts of one column: how it is read, and what it holds. `places_of` finds the first of the values that do not fit
    it, as (place, value). `known` is what was found out about a column of a long table."""
    parse = ordain_reading.parser(reading)
    facts = {"name": short(reading["name"], 120)} | {key: value for key, value in reading.items() if key not in ("name", "missing", "notes")}
    if rows:
        facts["null_share"] = round(reading["missing"] / rows, 4)
    notes = list(reading["notes"])
    bad = known.bad if known else {value: counts[value] for value in counts if parse(value) is ordain_reading.MISFIT}
    if bad:
        places, count = places_of(bad), sum(bad.values())
        at, written = [place + first_row for place, _ in places], [value for _, value in places]
        facts["misfits"] = {"count": count, "rows": at, "values": [short(value) for value in written]}
        notes.insert(0, ordain_reading.misfit_note(reading, at, written, count))
    if notes:
        facts["notes"] = [short(note, 240) for note in notes[:5]]
    distinct = [value for value in counts if parse(value) not in (None, ordain_reading.MISFIT)] if reading["type"] != "json" else []
    is_text = reading["type"] in (*ordain_reading.TEXTS, "boolean")
    shown = [value if is_text else parse(value) for value in distinct[: VALUES_MAX + 1]]
    facts["samples"] = [sample(value) for value in shown[:SAMPLES_MAX]]
    if is_text and 0 < len(distinct) <= VALUES_MAX and not (known and known.is_part):
        facts["values"] = [sample(value) for value in shown]
    if distinct and reading["type"] in (*ordain_reading.NUMBERS, "date", "timestamp", "duration"):
        parsed = known.range if known else [parse(value) for value in distinct]
        facts["min"], facts["max"] = sample(min(parsed)), sample(max(parsed))
    return facts


def table_facts(name, names, rows, looked, columns_total=None, exact=True, first_row=1, units=None, table=None, last=None):
    """Facts of a table: `looked` holds lists of values, one for each name. `last` is the last row, where all rows were
    looked at and it may be a total."""
    names = [str(name) for name in names]
    counts = [(name, ordain_reading.counts_of(values)) for name, values in zip(names[:COLUMNS_MAX], looked[:COLUMNS_MAX])]
    readings = ordain_reading.decide_all(counts, DECLARED.get("columns"), {**DECLARED.get("table", {}), **(table or {})})
    notes = []
    total = ordain_reading.total_of(last, looked, readings) if last else None
    if total:
        looked = [values[:-1] for values in looked]
        facts = table_facts(name, names, rows - 1, looked, columns_total, exact, first_row, units, table)
        return facts | {"left_out": 1, "notes": [total, *facts.get("notes", [])]}
    if last and (said := ordain_reading.sum_of_others(last, looked, readings)):
        notes.append(said)
    notes += ordain_reading.of_table(readings, counts)
    facts = {"name": name, "rows": rows, "columns_total": columns_total or len(names)}
    if not exact:
        facts["rows_are"] = "at least"
    count = len(looked[0]) if looked else 0
    if count < rows:
        facts["looked_at_rows"] = count
        notes.append(f"types were decided on the first {count:,} of {rows:,} rows")
    for at, unit in (units or {}).items():
        if at < len(readings):
            readings[at].setdefault("unit", unit)
    facts["columns"] = [
        column_facts(reading, column[1], len(values), first_row, first_places(values)) | samples_of_json(reading, values)
        for reading, values, column in zip(readings, looked, counts)
    ]
    facts |= columns_left_out(names, notes) | {"looked": looked}
    return facts | ({"notes": notes} if notes else {})


def columns_left_out(names, notes):
    """Facts about the columns beyond those that are read, which is told."""
    if len(names) <= COLUMNS_MAX:
        return {}
    notes.insert(0, ordain_reading.beyond_note(names, COLUMNS_MAX))
    return {"columns_left_out": len(names) - COLUMNS_MAX, "columns_last": short(names[-1])}


def first_places(values):
    """The function that finds the first of some values in a column."""
    found = lambda bad: ((place, value) for place, value in enumerate(values) if value in bad)  # noqa: E731
    return lambda bad: list(itertools.islice(found(bad), ordain_reading.TOLD_MAX))


def samples_of_json(reading, values):
    """Lists and objects are no keys of a count."""
    filled = (value for value in values if value is not None)
    return {"samples": [sample(value) for value in itertools.islice(filled, SAMPLES_MAX)]} if reading["type"] == "json" else {}


def long_facts(pieces, first_row=1, units=None, tail=(), width=0):
    """Facts of a table that is too long to be kept, decided on all of its rows. `pieces` gives its rows, and `tail` holds
    the last of them where a remark or a total may stand below it."""
    tail, notes = list(tail), []
    blank = 0
    while tail and all(map(ordain_reading.is_blank, tail[-1])):
        blank += bool(tail.pop())
    left_out, remark = ordain_reading.remarks_below(tail, width)
    long = looked_through(pieces, blank + left_out)
    body = [row for row in tail if row]
    last = body[-1 - left_out] if len(body) > left_out else []
    if total := long.total(last):
        left_out += 1
        long = looked_through(pieces, blank + left_out)
    columns = list(long.columns.items())
    for at, unit in (units or {}).items():
        columns[at][1].reading.setdefault("unit", unit)
    facts = {"name": None, "rows": long.rows, "columns_total": len(columns)}
    facts["columns"] = [
        column_facts(column.reading, column.counts, long.rows, first_row, lambda _, name=name: long.places(name), column)
        for name, column in columns[:COLUMNS_MAX]
    ]
    notes = [note for note in (remark, total) if note]
    facts |= columns_left_out([name for name, _ in columns], notes)
    return facts | ({"left_out": left_out} if left_out else {}) | ({"notes": notes} if notes else {})


def looked_through(pieces, left_out):
    some = lambda columns=None: ordain_reading.without_last(pieces(columns), left_out)  # noqa: E731
    return ordain_reading.LongTable(some, DECLARED.get("columns"), dict(DECLARED.get("table", {})))


def kind_of(value):
    """What a value of a tree is called."""
    kind = ordain_reading.kind_of(value)
    return "integer" if kind == "number" and isinstance(value, int) else "object" if kind == "other" else kind


def grid_facts(name, rows, height, columns_total=None, exact=True, table=None):
    """Facts of a table from its first rows, header and all that stands above it included. `height` counts all rows."""
    start, names, units, notes = ordain_reading.laid_out(rows, DECLARED.get("header_row"))
    body = [row for row in rows[start:] if row]
    while body and all(ordain_reading.is_blank(cell) for cell in body[-1]):
        body.pop()
        height -= 1
    # Empty lines are no rows.
    below = height - start - sum(1 for row in rows[start:] if not row)
    is_whole = exact and len(body) == below
    remarks = remarks_left_out(rows[start:], body, len(names), notes) if is_whole else 0
    if remarks:
        end = len(body) - remarks
        while end and all(ordain_reading.is_blank(cell) for cell in body[end - 1]):
            end -= 1
        body, below = body[:end], end
    columns = [[row[at] if at < len(row) else None for row in body] for at in range(min(len(names), COLUMNS_MAX))]
    last = body[-1] if is_whole and len(body) > 2 else None
    facts = table_facts(name, names, below, columns, columns_total, exact, start + 1, units, table, last)
    mark_doubled(facts["columns"], notes)
    told = (ordain_reading.totals_among(body[: facts["rows"]], start + 1), ordain_reading.second_table(rows[start:], start + 1), ordain_reading.repeated_header(body, names, start + 1))
    notes += [*facts.get("notes", []), *filter(None, told)]
    facts |= {"skip": start} | header_row(rows, start) | ({"left_out": remarks + facts.get("left_out", 0)} if remarks else {})
    return facts | ({"notes": [short(note, 240) for note in notes[:8]]} if notes else {})


def mark_doubled(columns, notes):
    """Says of a column that was numbered what it is called in the file."""
    for column in columns:
        called, _, number = column["name"].rpartition(".")
        if number.isdecimal() and ordain_reading.doubled_note(called) in notes:
            column["called"] = called


def header_row(rows, start):
    """The row in which the names of a table stand, counted from one, where it has any."""
    row = DECLARED.get("header_row") or ordain_reading.above(rows)[0] + 1
    return {"header_row": row} if row <= start else {}


def remarks_left_out(rows, body, width, notes):
    """How many rows of the body are remarks below the table, which is told."""
    cut, note = ordain_reading.remarks_below(rows[-ordain_reading.HEAD_ROWS :], width)
    if not cut or cut >= len(body):
        return 0
    notes.append(note)
    return cut


def together(tables, what, path, kind):
    """The tables of one file, those with the same columns as one table, with a column in front that says which."""
    groups = {}
    # What is called a total of the others would be counted twice.
    for table in (table for table in tables if not ordain_reading.TOTALS.fullmatch(re.sub(r"^.*/|\.\w+$", "", table["name"]))):
        groups.setdefault(tuple(column["name"] for column in table["columns"]), []).append(table)
    joined = {names: one for names, some in groups.items() if names and (one := joined_tables(some, what, path, kind))}
    # Several of them could not be told from each other by name.
    if len(joined) != 1:
        return tables
    [(names, one)] = joined.items()
    return [one, *(table for table in tables if all(table is not part for part in groups[names]))]


def joined_tables(tables, what, path, kind):
    """Tables with the same columns as one, which is looked at as any other: on the values of all of them. None where their
    columns hold different things."""
    names = [column["name"] for column in tables[0]["columns"]]
    if len(tables) < 2 or what in names or any("columns_left_out" in table for table in tables) or not have_one_unit(tables):
        return None
    values = [table.pop("looked", None) for table in tables]
    kept = [table | {"columns": [{key: column[key] for key in column if key not in DESCRIBING} for column in table["columns"]]} for table in tables]
    joined = {"parts": kept, "part_column": what}
    parts, rows = [table["name"] for table in tables], sum(table["rows"] for table in tables)
    if None not in values:
        facts = table_facts(None, names, rows, [list(itertools.chain(*columns)) for columns in zip(*values)])
    else:
        raws = lambda columns=None: (raw[columns or names] for raw in ordain_reading.raw_parts(path, {"kind": kind}, joined))  # noqa: E731
        try:
            facts = long_facts(raws)
        except ordain_reading.Unreadable:
            return None
    columns = facts["columns"]
    if any(is_lost(column, [table["columns"][at] for table in tables]) for at, column in enumerate(columns)):
        return None
    for at, column in enumerate(columns):
        # Units that names or rows of units give stand in no value.
        for key in ("unit", "called"):
            given = next((table["columns"][at][key] for table in tables if key in table["columns"][at]), None)
            column |= {key: given} if given and not (key == "unit" and "currency" in column) else {}
    which = {"name": what, "type": "category", "present": rows, "null_share": 0.0, "samples": parts[:SAMPLES_MAX]}
    which |= {"values": parts} if len(parts) <= VALUES_MAX else {}
    notes = [f"{len(parts)} tables with the same columns ({short(', '.join(parts))}) are read as one; `{what}` says which"]
    notes += [*facts.get("notes", []), *(f"{table['name']}: {note}" for table in tables for note in table.get("notes", []))]
    joined |= {"name": None, "rows": rows, "columns_total": len(columns) + 1, "columns": [which, *columns]}
    return joined | {"notes": notes[:8]}


# What only describes a column, and does not say how it is read.
DESCRIBING = ("samples", "values", "min", "max", "null_share", "notes", "misfits", "stored_as", "present")


def have_one_unit(tables):
    """Whether each column is in one unit or currency in all tables that have values of it."""
    for columns in zip(*(table["columns"] for table in tables)):
        told = [column for column in columns if column["type"] != "empty"]
        if len({(column.get("currency"), column.get("unit")) for column in told}) > 1:
            return False
    return True


def is_lost(joined, columns):
    """Whether a column is numbers, days or the like in some tables and texts in all of them together."""
    as_text = {"empty", "boolean", *ordain_reading.TEXTS}
    return joined["type"] in ("text", "category") and any(column["type"] not in as_text for column in columns)


def records_facts(name, records, rows=None, exact=True):
    """Facts of a list of objects."""
    names = []
    seen = set()
    for record in records:
        for key in record:
            if key not in seen:
                seen.add(key)
                names.append(key)
    columns = [[record.get(key) for record in records] for key in names[:COLUMNS_MAX]]
    return table_facts(name, names, len(records) if rows is None else rows, columns, exact=exact)


# --- text -----------------------------------------------------------------------------------------------------------


def encoding_of(path):
    """The encoding of a text and whether it is one. Read in pieces: the file may be large."""
    start = head_of(path, 4)
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if start.startswith(mark):
            return name
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")()
    nulls = 0
    with open(path, "rb") as file:
        try:
            while piece := file.read(1 << 20):
                nulls += piece.count(0)
                decoder.decode(piece)
                if file.tell() > 256 << 20:
                    break
            if nulls == 0:
                return "utf-8"
        except UnicodeDecodeError:
            pass
    piece = head_of(path, 1 << 20)
    if b"\0" in piece:
        even, odd = piece[::2].count(0), piece[1::2].count(0)
        name = "utf-16-le" if odd > even else "utf-16-be"
        text = piece[: len(piece) // 2 * 2].decode(name, "replace")
        if sum(c.isprintable() or c.isspace() for c in text) > len(text) * 0.95 and sum(" " <= c <= "~" for c in text) > len(text) * 0.5:
            return name
        raise binary()
    # Texts have few control characters, whatever their encoding; what is packed or drawn has many.
    if len(re.findall(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]", piece)) > len(piece) * 0.02:
        raise binary()
    # Bytes 0x80–0x9f are letters in Windows-1252 and control characters in Latin-1.
    return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", piece) else "cp1252"


def binary():
    return Problem("it holds binary data, not text", "give it the ending of what it is")


def text_facts(path):
    encoding = encoding_of(path)
    lines = words = characters = longest = 0
    with open(path, encoding=encoding, errors="replace", newline=None) as file:
        excerpt = file.read(EXCERPT_MAX * 4)
        file.seek(0)
        while piece := file.readlines(1 << 22):
            lines += len(piece)
            characters += sum(map(len, piece))
            longest = max(longest, max(map(len, piece)))
            if characters <= 64 << 20:
                words += sum(len(line.split()) for line in piece)
    facts = {"encoding": encoding, "lines": lines, "characters": characters, "longest_line": longest}
    if characters <= 64 << 20:
        facts["words"] = words
    facts["excerpt"] = excerpt[:EXCERPT_MAX]
    return facts


def excerpt_facts(text):
    """Facts of a text that was taken out of a document."""
    return {"characters": len(text), "words": len(text.split()), "excerpt": text.strip()[:EXCERPT_MAX]}
