# --- long texts, read block by block: part of the module that `reading.py` begins ----------------------------------------

# Bytes that are cut into fields at once. What is kept of a block takes less room than its texts, whose memory the next one
# uses again.
BLOCK_BYTES = 1 << 21
# Blocks that are cut ahead of the one whose values are read.
BLOCKS_AHEAD = 2
# A table may have more rows than its first block lets expect.
ROWS_BEYOND = 1.2
SENTINEL_NUMBERS = [1 - 10**digits for digits in range(2, DIGITS_MAX + 1)]


class BlockColumn:
    """A column of a long text: its values, while all of its texts are written in the one plain way of the first; its texts
    otherwise. It is read as `quickly_decided` has it, which looks at all texts at once."""

    def __init__(self, name, is_open):
        self.name, self.texts, self.values, self.present, self.missing = name, [], None, 0, 0
        self.read = None if is_open and not IDENTIFIER_NAMES.search(name) and not TRUTH_NAMES.search(name) else self.read_texts
        self.has_point = self.is_clear = self.has_time = self.is_long = False
        # Its different texts and how often each occurs, while they are few.
        self.counts = {}
        # Values were kept until texts came that do not fit: all of them have to be read again.
        self.is_lost = False

    def see(self, texts, rows_max):
        """Takes the texts of a block of a table that has about so many rows."""
        import pyarrow.compute as pc

        if self.is_lost:
            return
        lengths = pc.binary_length(texts)
        has_gaps = pc.min(lengths).as_py() == 0
        present = texts.filter(pc.greater(lengths, 0)) if has_gaps else texts
        self.read = self.read or self.way_of(present[0].as_py() if len(present) else "")
        if self.read == self.read_texts:
            self.texts.append(texts)
            self.count(texts)
            return
        values = self.read(present)
        if values is None:
            self.is_lost, self.values = True, None
            return
        if has_gaps:
            places = pc.cumulative_sum(pc.if_else(pc.greater(lengths, 0), 1, None), start=-1, skip_nulls=True)
            values = values.take(places)
        self.keep(values.to_numpy(zero_copy_only=False), rows_max)
        self.present, self.missing = self.present + len(present), self.missing + len(texts) - len(present)

    def count(self, texts):
        if self.counts is None:
            return
        found = texts.value_counts()
        for text, count in zip(found.field("values").to_pylist(), found.field("counts").to_pylist()) if len(found) <= LOOKED_MAX else ():
            self.counts[text] = self.counts.get(text, 0) + count
        if max(len(found), len(self.counts)) > LOOKED_MAX:
            self.counts = None

    def keep(self, values, rows_max):
        """Puts values below those of the blocks before. Memory that is taken once for all of them is touched once."""
        import numpy as np

        rows = self.present + self.missing
        kind = values.dtype if self.values is None else np.promote_types(self.values.dtype, values.dtype)
        if self.values is None or self.values.dtype != kind or rows + len(values) > len(self.values):
            wider = np.empty(max(rows_max, 2 * rows, rows + len(values)), kind)
            if rows:
                wider[:rows] = self.values[:rows]
            self.values = wider
        self.values[rows : rows + len(values)] = values

    def way_of(self, first):
        """The function that reads texts which are written as the first one is."""
        if PLAIN.fullmatch(first):
            return self.read_texts if DATE_NAMES.search(self.name) or TIME_NAMES.search(self.name) else self.read_numbers
        return self.read_times if re.fullmatch(ISO_SHAPE, first) else self.read_texts

    def read_texts(self, texts):
        return texts

    def read_numbers(self, texts):
        """The values of plain numbers; None where others are among them."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(texts):
            return pc.cast(texts, pa.int64())
        starts, written = bytes_of_texts(texts)
        # Nothing but digits, points and minus signs; what else is between these is no number.
        if written.min() < ord("-") or written.max() > ord("9"):
            return None
        has_point = bool((written == ord(".")).any())
        try:
            values = pc.cast(texts, pa.float64() if has_point else pa.int64())
        except pa.ArrowInvalid:
            return None
        numbers = values.to_numpy()
        low, high = numbers.min(), numbers.max()
        if max(high, -low) >= 10**DIGITS_MAX or low <= -99 and np.isin(numbers, SENTINEL_NUMBERS).any():
            return None
        self.is_long |= bool(max(high, -low) > EXACT_MAX)
        if not has_point:
            return values if written.size == digits_of(numbers, low, high) else None
        body, last = starts[:-1] + (written[starts[:-1]] == ord("-")), starts[1:] - 1
        first, second = written[body], written[np.minimum(body + 1, last)]
        has_zeros = (first == ord("0")) & (body < last) & (second != ord("."))
        if (has_zeros | (first == ord(".")) | (written[last] == ord("."))).any():
            return None
        self.has_point = True
        is_some = lambda pattern: pc.any(pc.match_substring_regex(texts, pattern)).as_py()  # noqa: E731
        self.is_clear = self.is_clear or is_some(r"^-?(0|[0-9]{4,})\.") or is_some(r"\.([0-9]{1,2}|[0-9]{4,})$")
        return values

    def read_times(self, texts):
        """The values of ISO dates and times; None where others are among them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        low, high = pc.min_max(pc.binary_length(texts)).as_py().values()
        # Of these lengths Arrow reads nothing else.
        is_known = low == high and low in (10, 19)
        if len(texts) and not is_known and not pc.all(pc.match_substring_regex(different(texts), ISO_SHAPE)).as_py():
            return None
        self.has_time |= bool(high) and high > 10
        try:
            return pc.cast(texts, pa.timestamp("us"))
        except pa.ArrowInvalid:
            return None

    def kind(self):
        """The type of the values that were kept, or None."""
        if self.is_lost or self.read in (None, self.read_texts):
            return None
        if self.read == self.read_times:
            return "timestamp" if self.has_time else "date"
        if self.has_point:
            return "real" if self.is_clear else None
        # Beside gaps pandas has floating point.
        return None if self.missing and self.is_long else "integer"


def bytes_of_texts(texts):
    """The bytes of an array of texts one after the other, and where each begins, with the end of the last."""
    import numpy as np

    _, starts, data = texts.buffers()
    starts = np.frombuffer(starts, "i4")[texts.offset : texts.offset + len(texts) + 1]
    return starts - starts[0], np.frombuffer(data, "u1")[starts[0] : starts[-1]]


def digits_of(numbers, low, high):
    """How many characters whole numbers take, written without anything that they do not need."""
    import numpy as np

    sizes = np.abs(numbers) if low < 0 else numbers
    longer = sum(int(np.count_nonzero(sizes >= 10**digits)) for digits in range(1, DIGITS_MAX) if 10**digits <= max(high, -low))
    return len(numbers) + longer + (int(np.count_nonzero(numbers < 0)) if low < 0 else 0)


def blocks(data, facts, names, columns=None):
    """The text of a table block by block, all fields as texts. Arrow raises where a line has more or fewer fields than there
    are names, and where they are not UTF-8."""
    import pyarrow as pa
    import pyarrow.csv

    return pyarrow.csv.open_csv(
        pa.BufferReader(data),
        pyarrow.csv.ReadOptions(column_names=names, skip_rows=facts.get("skip", 0), use_threads=False, block_size=BLOCK_BYTES),
        pyarrow.csv.ParseOptions(delimiter=facts["delimiter"], newlines_in_values=True),
        pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=columns, strings_can_be_null=False),
    )


def raw_blocks(data, facts, names, is_open):
    """A long table of UTF-8 bytes, the readings of those of its columns that have their types, being written plainly, and the
    counts of texts of others, where they are few. Columns of which `is_open` is false hold texts. None where the bytes are no
    even lines of UTF-8."""
    import pandas as pd
    import pyarrow as pa

    columns, rows_max = {name: BlockColumn(name, is_open(name)) for name in names}, 0

    def see(block):
        nonlocal rows_max
        rows_max = rows_max or int(ROWS_BEYOND * block.num_rows * (len(data) / BLOCK_BYTES + 1))
        for name, texts in zip(block.schema.names, block.columns):
            columns[name].see(texts, rows_max)

    try:
        rows = in_step(see, blocks(data, facts, names))
        kinds = {name: column.kind() if rows >= QUICK_FROM else None for name, column in columns.items()}
        again = [name for name, column in columns.items() if not kinds[name] and column.read != column.read_texts]
        for name in again:
            columns[name] = BlockColumn(name, False)
        if again:
            in_step(see, blocks(data, facts, names, again))
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, RuntimeError):
        # No such lines; or the limits allow no further thread, which Arrow and Python tell in their own ways.
        return None
    found, readings, counts = {}, {}, {}
    for name, column in columns.items():
        if kinds[name]:
            found[name] = pd.Series(column.values[:rows], copy=False)
            readings[name] = {"name": name, "type": kinds[name], "notes": [], "present": column.present, "missing": column.missing}
        else:
            found[name] = pa.chunked_array(column.texts, pa.string()).cast(pa.large_string()).to_pandas()
            counts |= {name: column.counts} if column.counts else {}
    return pd.DataFrame(found, columns=names, copy=False), readings, counts


def in_step(work, items):
    """Does some work on items that others make meanwhile, and gives how many rows they have together."""
    from concurrent.futures import ThreadPoolExecutor

    rows, waiting = 0, collections.deque()
    with ThreadPoolExecutor(1) as thread:
        for item in items:
            rows += item.num_rows
            waiting.append(thread.submit(work, item))
            if len(waiting) > BLOCKS_AHEAD:
                waiting.popleft().result()
        for done in waiting:
            done.result()
    return rows
