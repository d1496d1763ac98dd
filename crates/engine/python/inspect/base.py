"""Looks into files, in a cell, and tells what they hold.

The parts of this folder are joined into one program and run where the files are hostile and nothing can be lost. Each
file is told about by one call to the host, so that a file which ends the cell takes no other's facts with it. Readers
are imported when a file needs them, because most of them are slow to import.
"""

import json
import os
import re
import time
import warnings

import ordain

warnings.simplefilter("ignore")

# What is told is bounded: a brief is read by a planner, not stored.
COLUMNS_MAX = 120
TABLES_MAX = 40
MEMBERS_MAX = 60
SAMPLES_MAX = 3
VALUES_MAX = 20
TEXT_MAX = 60
EXCERPT_MAX = 400
# Cells of a table that are looked at for types.
CELLS_MAX = 400_000
ROWS_MAX = 20_000
# A single file may take this long before only the cheap facts are told.
SECONDS_MAX = 10.0
# What may come out of an archive or a compressed file before it is taken for a bomb.
EXPANDED_BYTES_MAX = settings["expanded_bytes_max"]  # noqa: F821 - given by the host
RATIO_MAX = 200
# Readers of whole trees (YAML, JSON, HTML) get at most this.
TREE_BYTES_MAX = 64 << 20

DATE = re.compile(r"^\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")
OTHER_DATE = re.compile(r"^\d{1,2}[./]\d{1,2}[./]\d{2,4}$|^\d{4}/\d{1,2}/\d{1,2}$")


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
        return value.isoformat()
    return short(value)


def head_of(path, size=1 << 16):
    with open(path, "rb") as file:
        return file.read(size)


# --- columns --------------------------------------------------------------------------------------------------------


def text_type(values):
    """The type that texts have in common: what a person would call the column."""
    seen = set()
    for value in values:
        text = value.strip() if isinstance(value, str) else str(value)
        if DATE.match(text) or OTHER_DATE.match(text):
            seen.add("date")
        elif re.fullmatch(r"[+-]?\d{1,18}", text) and not (len(text) > 1 and text[0] == "0"):
            seen.add("integer")
        elif re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
            seen.add("number")
        elif text.lower() in ("true", "false"):
            seen.add("boolean")
        else:
            return "text"
    if seen == {"integer", "number"}:
        return "number"
    return seen.pop() if len(seen) == 1 else "text" if seen else "empty"


def column_facts(name, values, rows):
    """Facts of one column from the values that were looked at; empty texts count as missing."""
    present = [value for value in values if not is_missing(value)]
    facts = {"name": short(name, 120), "type": type_of(present)}
    if rows:
        facts["null_share"] = round(1 - len(present) / rows, 4)
    distinct = []
    seen = set()
    for value in present:
        mark = value if isinstance(value, (str, int, float, bool)) else str(value)
        if mark not in seen:
            seen.add(mark)
            distinct.append(value)
        if len(seen) > VALUES_MAX:
            break
    facts["samples"] = [sample(value) for value in distinct[:SAMPLES_MAX]]
    if facts["type"] in ("text", "boolean") and 0 < len(seen) <= VALUES_MAX:
        facts["values"] = [sample(value) for value in distinct]
    if facts["type"] in ("integer", "number", "date") and present:
        try:
            facts["min"], facts["max"] = sample(min(present)), sample(max(present))
        except TypeError:
            pass
    return facts


def is_missing(value):
    return value is None or value == "" or value != value


def type_of(values):
    if not values:
        return "empty"
    kinds = {kind_of(value) for value in values}
    if kinds == {"integer", "number"}:
        return "number"
    if len(kinds) > 1:
        return "mixed"
    kind = kinds.pop()
    return text_type(values) if kind == "text" else kind


def kind_of(value):
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "boolean"
    if isinstance(value, int) or type(value).__name__.startswith(("int", "uint")):
        return "integer"
    if isinstance(value, float) or type(value).__name__.startswith(("float", "Decimal")):
        return "number"
    if isinstance(value, str):
        return "text"
    if hasattr(value, "isoformat"):
        return "date"
    return "object" if isinstance(value, (dict, list, tuple)) else type(value).__name__


def table_facts(name, names, rows, looked, columns_total=None, exact=True):
    """Facts of a table: `looked` holds lists of values, one for each name."""
    facts = {"name": name, "rows": rows, "columns_total": columns_total or len(names)}
    if not exact:
        facts["rows_are"] = "at least"
    count = len(looked[0]) if looked else 0
    if count < rows:
        facts["looked_at_rows"] = count
    facts["columns"] = [
        column_facts(column, values, count) for column, values in zip(names[:COLUMNS_MAX], looked[:COLUMNS_MAX])
    ]
    if len(names) > COLUMNS_MAX:
        facts["columns_left_out"] = facts["columns_total"] - COLUMNS_MAX
        facts["columns_last"] = short(names[-1])
    return facts


def records_facts(name, records, rows=None, exact=True):
    """Facts of a list of objects."""
    names = []
    seen = set()
    for record in records[:2000]:
        for key in record:
            if key not in seen:
                seen.add(key)
                names.append(key)
    looked = records[: max(1, min(ROWS_MAX, CELLS_MAX // max(1, len(names))))]
    columns = [[record.get(key) for record in looked] for key in names[:COLUMNS_MAX]]
    return table_facts(name, [str(key) for key in names], len(records) if rows is None else rows, columns, exact=exact)


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
    return "cp1252" if re.search(rb"[\x80-\x9f]", piece) and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", piece) else "latin-1"


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
