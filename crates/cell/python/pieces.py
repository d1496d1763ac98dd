# --- long tables: read piece by piece, and decided on all of their rows: part of the module that `reading.py` begins ---

# Rows of a piece of a table that is too large to be read whole.
PIECE_ROWS = 200_000
# Different values of all columns that are kept to decide them together; beyond it the fullest column is decided by what
# was seen of it, and every later piece must agree.
KEPT_VALUES_MAX = 1_000_000
# What must be the same in every piece of a column.
MARKS = ("decimal", "thousands", "currency", "unit", "order", "zone", "words", "format")
WIDER = {frozenset(("integer", "real")): "real", frozenset(("category", "text")): "text", frozenset(("date", "timestamp")): "timestamp"}


def raw_pieces(path, facts, table, columns=None):
    """The rows of a long table as they lie in their file, piece by piece."""
    at, kind = facts | table, facts["kind"]
    if kind == "parquet":
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(path)
        yield from (batch.to_pandas() for batch in file.iter_batches(batch_size=PIECE_ROWS, columns=columns))
    elif kind in ("jsonl", "ndjson"):
        yield from line_pieces(path, columns)
    else:
        yield from text_pieces(path, at, *every_name([column["name"] for column in table["columns"]], columns, at))


def loaded_pieces(path, facts, table, columns=None):
    """The same with the types that were found, and what is worth saying about the values of each piece."""
    readings = {column["name"]: column for column in table["columns"] if "type" in column}
    first_row, left = (facts | table).get("skip", 0) + 1, table["rows"]
    for raw in raw_pieces(path, facts, table, columns):
        # What follows the last row is a total or a remark.
        raw = (raw if columns is None else raw[columns]).iloc[:left].reset_index(drop=True)
        yield typed_frame(raw, readings, first_row)
        first_row, left = first_row + len(raw), left - len(raw)


def text_pieces(source, facts, names, columns=None):
    import pandas as pd

    with even_lines(source, facts, len(names)):
        yield from pd.read_csv(source, chunksize=PIECE_ROWS, **text_arguments(facts, names, columns))


def line_pieces(path, columns=None):
    import pandas as pd

    rows = []
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                record = flat(json_line(line, number))
                rows.append(record if columns is None else {name: record.get(name) for name in columns})
            if len(rows) >= PIECE_ROWS // 10:
                yield pd.DataFrame(rows, columns=columns)
                rows = []
    if rows:
        yield pd.DataFrame(rows, columns=columns)


def without_last(pieces, count):
    """Pieces without so many rows at the end of the last."""
    import pandas as pd

    held = None
    for raw in pieces:
        raw = raw if held is None or not count else pd.concat([held, raw], ignore_index=True)
        end = len(raw) - count
        held = raw.iloc[max(end, 0) :]
        if end > 0:
            yield raw.iloc[:end]


class LongColumn:
    """What the pieces of a long table tell of one column: its reading, its different values (some, if `is_part`), its
    least and its greatest value, and the values that do not fit it."""

    def __init__(self):
        self.reading, self.counts, self.is_part = None, collections.Counter(), False
        self.range, self.bad = [], collections.Counter()

    def see(self, counts):
        """Takes the values of a piece that are to be read as was decided."""
        parse = parser(self.reading)
        parsed = [(value, parse(value)) for value in counts if not isinstance(value, Nested)]
        self.bad.update({value: counts[value] for value, meant in parsed if meant is MISFIT})
        if self.reading["type"] in (*NUMBERS, "date", "timestamp", "duration"):
            known = [meant for _, meant in parsed if meant is not None and meant is not MISFIT]
            self.range = [min([*self.range, *known]), max([*self.range, *known])] if known or self.range else []


class LongTable:
    """A long table after all of its rows were looked at. `pieces` gives them from the beginning, of all columns or of
    those that are named."""

    def __init__(self, pieces, declared=None, table=None):
        self.pieces, self.declared, self.table = pieces, declared or {}, table or {}
        self.rows, self.columns = 0, {}
        self.decide_quickly()
        slow = [name for name, column in self.columns.items() if column.reading is None]
        if slow:
            self.count(slow)
        ready = {name: column.reading for name, column in self.columns.items() if column.reading}
        counts = [(name, column.counts) for name, column in self.columns.items()]
        for name, reading in zip(self.columns, decide_all(counts, self.declared, self.table, ready)):
            column = self.columns[name]
            column.reading = reading
            if not column.is_part:
                column.see(column.counts)

    def decide_quickly(self):
        """Decides the columns whose values are all written in one plain way."""
        plain = {}
        for raw in self.pieces():
            for name in raw.columns:
                column = self.columns.setdefault(name, LongColumn())
                if self.table or name in self.declared or plain.get(name, not self.rows) is None:
                    continue
                found = quickly_decided(name, raw[name], 0) if name in plain or not self.rows else None
                if found and not column.counts:
                    column.counts.update(raw[name].head(LOOKED_MAX).tolist())
                plain[name] = found and (widened(plain[name], found) if name in plain else found)
                if plain[name]:
                    column.range = quick_range(raw[name], found, column.range)
            self.rows += len(raw)
        for name, found in plain.items():
            column = self.columns[name]
            column.reading, column.is_part = found, bool(found)
            if not found:
                column.counts, column.range = collections.Counter(), []

    def count(self, names):
        """Counts the values of the other columns, and decides those that have too many different ones to be kept."""
        seen = 0
        for raw in self.pieces(names):
            for name in names:
                column, counts = self.columns[name], counted(raw[name]) if name in raw else {None: len(raw)}
                if not column.is_part:
                    column.counts.update(counts)
                    continue
                found = decide(name, counts, dict(self.table), self.declared.get(name))
                agreed = widened(column.reading, found)
                if agreed is None:
                    raise Unreadable(changed_column(name, column.reading, found, seen, seen + len(raw)))
                column.reading = agreed
                column.see(counts)
            seen += len(raw)
            open_columns = [name for name in names if not self.columns[name].is_part]
            while open_columns and sum(len(self.columns[name].counts) for name in open_columns) > KEPT_VALUES_MAX:
                fullest = max(open_columns, key=lambda name: len(self.columns[name].counts))
                open_columns.remove(fullest)
                column = self.columns[fullest]
                column.reading, column.is_part = decide(fullest, column.counts, dict(self.table), self.declared.get(fullest)), True
                column.see(column.counts)
                column.counts = collections.Counter(dict(itertools.islice(column.counts.items(), LOOKED_MAX)))

    def places(self, name):
        """The first values of a column that do not fit it, as (place, value)."""
        found, seen, bad = [], 0, self.columns[name].bad
        for raw in self.pieces([name]):
            found += [(seen + place, value) for place, value in enumerate(raw[name].tolist()) if value in bad]
            seen += len(raw)
            if len(found) >= TOLD_MAX:
                break
        return found[:TOLD_MAX]

    def total(self, last):
        """What to say of a last row that is the total of those above, or None."""
        if not is_total(last):
            return None
        for place, (name, column) in enumerate(self.columns.items()):
            if column.reading["type"] in NUMBERS and not column.bad and place < len(last):
                amount, above = parser(column.reading)(last[place]), 0
                if amount is None or amount is MISFIT:
                    continue
                for raw in self.pieces([name]):
                    above += typed(raw[name].reset_index(drop=True), column.reading)[0].sum()
                if said := total_note(last, above - amount, amount, self.rows):
                    return said
        return None


def widened(one, other):
    """The reading that holds for two parts of a column, or None."""
    if "empty" in (one["type"], other["type"]):
        kept = other if one["type"] == "empty" else one
    else:
        kinds = {one["type"], other["type"]}
        kind = one["type"] if len(kinds) == 1 else WIDER.get(frozenset(kinds))
        # A part whose order of day and month is open, or that has whole numbers without any mark, fits the other.
        kept, rest = (other, one) if one.get("unclear") or is_bare(one) else (one, other)
        open_marks = ("order",) if rest.get("unclear") else ("decimal", "thousands") if is_bare(rest) else ()
        if kind is None or any(kept.get(mark) != rest.get(mark) for mark in MARKS if mark not in open_marks):
            return None
        kept = kept | {"type": kind}
    nulls = sorted({*one.get("null_values", ()), *other.get("null_values", ())})
    return kept | {key: one[key] + other[key] for key in ("present", "missing")} | ({"null_values": nulls} if nulls else {})


def is_bare(reading):
    return reading["type"] == "integer" and "thousands" not in reading


def quick_range(values, reading, known):
    """The least and the greatest value of a column of plain numbers or ISO dates, with those of the pieces before."""
    if reading["type"] not in ("integer", "real", "date", "timestamp"):
        return []
    column = quickly_typed(values, reading, 0)
    column = typed(values, reading)[0] if column is None else column
    found = [value.item() if hasattr(value, "item") else value.to_pydatetime() for value in (column.min(), column.max()) if value == value]
    return [min([*known, *found]), max([*known, *found])] if known or found else []


def changed_column(name, one, other, first, last):
    """What to say of a column whose rows are not written in one way."""
    how = lambda reading: " ".join(str(reading[key]) for key in ("type", *MARKS) if reading.get(key))  # noqa: E731
    return (
        f"column `{name}` is not written in one way: its first {first:,} rows are {how(one)}, and its rows {first + 1:,} to "
        f"{last:,} are {how(other)}; split the file, or declare the column in `[data]` of ordain.toml"
    )
