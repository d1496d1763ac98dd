# --- frames: a table of a file as pandas has it, with exactly the types of its readings ------------------------------

# Above this many different values a column of plain numbers or ISO dates is read by a vectorised parser.
QUICK_FROM = 20_000
# Floating point holds every whole number up to this one.
EXACT_MAX = 2**53
# A cell of a page spans at most this many columns or rows; objects within objects become fields down to this depth.
SPAN_MAX, FLAT_DEPTH_MAX = 100, 4
KEY_NAMES = re.compile(r"(^|[^a-z])(id|key|nr|no|number|code)$", re.I)
# How the formats of spreadsheets show a length of time, and how an OpenDocument workbook marks an error.
LENGTH_FORMAT, OPEN_ERROR = re.compile(r"\[(h+|m+|s+)\]", re.I), b'calcext:value-type="error"'
ISO_SHAPE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$"


class Unreadable(Exception):
    """A file cannot be read as the table that it claims to be; the message says why."""


class Misfits(dict):
    """Values that do not fit, by the place of their row. pandas copies what hangs on a frame with every step."""

    def __deepcopy__(self, _memo):
        return self


def typed(values, reading):
    """A column with the type of its reading, and the values that do not fit it by their places."""
    import pandas as pd

    quick = quickly_typed(values, reading)
    if quick is not None:
        return quick, Misfits()
    if reading["type"] in TEXTS and values.dtype == "object":
        # Lists and objects among texts are shown as JSON.
        values = values.map(lambda value: json.dumps(value, default=plain_json) if isinstance(value, (dict, list)) or hasattr(value, "tolist") else value)
    codes, different = pd.factorize(values, use_na_sentinel=True)
    parse = parser(reading)
    # pandas gives points in time of its own kind; they are those of the standard library too.
    parsed = [parse(value) for value in different.tolist()]
    bad = {code for code, value in enumerate(parsed) if value is MISFIT}
    misfits = Misfits()
    if bad:
        parsed = [None if value is MISFIT else value for value in parsed]
        written = different.tolist()
        misfits |= {place: str(written[code])[:200] for place, code in enumerate(codes.tolist()) if code in bad}
    return spread(parsed, codes, reading["type"]), misfits


def plain_json(value):
    """What JSON has no word for: a list of pandas' own kind as a plain one, anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def quickly_typed(values, reading, rows_min=QUICK_FROM):
    """The same for a long column of texts that are all written plainly, or None."""
    import pandas as pd

    if not isinstance(values.dtype, pd.StringDtype) or len(values) < rows_min:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = with_gaps(values)
    kind = reading["type"]
    is_plain = not any(reading.get(key) for key in ("decimal", "thousands", "currency", "unit", "null_values", "zone", "order", "formula_text"))
    if not is_plain:
        return None
    if kind in TEXTS:
        blank = pc.any(pc.match_substring_regex(different(texts), r"^\s+$")).as_py()
        return None if blank else pd.Series(texts.to_pandas(), dtype="str")
    if kind in ("integer", "real"):
        try:
            numbers = pc.cast(texts, pa.int64() if kind == "integer" else pa.float64())
        except pa.ArrowInvalid:
            return None
        if kind == "real" and pc.all(pc.is_finite(numbers)).as_py() is False:
            return None
        # Beside gaps pandas has floating point.
        if kind == "integer" and numbers.null_count and any(abs(end or 0) > EXACT_MAX for end in pc.min_max(numbers).as_py().values()):
            return None
        return pd.Series(numbers.to_pandas())
    if kind in ("date", "timestamp") and pc.all(pc.match_substring_regex(different(texts), ISO_SHAPE)).as_py():
        try:
            return pd.Series(pc.cast(texts, pa.timestamp("us")).to_pandas())
        except pa.ArrowInvalid:
            return None
    return None


def with_gaps(values):
    """The texts of a column as Arrow has them, with a gap for each that is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(values, from_pandas=True)
    is_empty = pc.equal(texts, "")
    return pc.if_else(is_empty, pa.scalar(None, texts.type), texts) if pc.any(is_empty).as_py() else texts


def different(texts):
    """Texts among which is every one of a column, in their order: its different ones where many are alike, else all."""
    import pyarrow.compute as pc

    head = texts[:QUICK_FROM]
    return pc.unique(texts) if len(pc.unique(head)) * 2 <= len(head) else texts


def spread(parsed, codes, kind):
    """The values of a column from its different ones and which of them stands in each row."""
    import numpy as np
    import pandas as pd

    has_gaps = bool((codes < 0).any()) or any(parsed[code] is None for code in set(codes.tolist()) if code >= 0)
    # A last place for rows without a value: a code of -1 means it.
    values = [*parsed, None]
    if kind in NUMBERS or kind == "duration":
        if kind == "integer" and all(value is None or isinstance(value, int) and -(2**63) <= value < 2**63 for value in values):
            if not has_gaps:
                return pd.Series(np.array([0 if value is None else value for value in values], dtype="int64")[codes])
            if any(value is not None and abs(value) > 2**53 for value in values):
                return pd.Series(pd.array(values, dtype="Int64")[codes])
        numbers = np.array([np.nan if value is None else float(value) for value in values], dtype="float64")
        return pd.Series(numbers[codes])
    if kind in ("date", "timestamp"):
        return pd.Series(np.array(values, dtype="datetime64[us]")[codes])
    if kind == "boolean":
        if not has_gaps:
            return pd.Series(np.array([bool(value) for value in values])[codes])
        return pd.Series(np.array(values, dtype="object")[codes])
    if kind in TEXTS or kind == "empty":
        return pd.Series(pd.array(values, dtype="str")[codes])
    return pd.Series(np.array([*values, None], dtype="object")[:-1][codes])


def typed_frame(raw, readings, first_row=2):
    """A frame whose columns have the types of their readings; what does not fit is in `frame.attrs["misfits"]` and told
    in notes. Columns without a reading are decided here, on all of their values."""
    import pandas as pd

    columns, notes, misfits = {}, [], {}
    for name in raw.columns:
        values = raw[name]
        reading = readings.get(name)
        if reading is None:
            reading = decide_all([(name, counted(values))])[0]
        if is_native(values, reading):
            values = values.dt.tz_convert("UTC") if getattr(values.dtype, "tz", None) else values
            columns[name] = without_overflow(values.reset_index(drop=True))
            continue
        column, wrong = typed(values, reading)
        column = without_overflow(column)
        if reading.get("zone") and column.dtype.kind == "M":
            column = column.dt.tz_localize("UTC")
        columns[name] = column
        if wrong:
            misfits[str(name)] = wrong
            reading = {"present": int(len(values) - values.isna().sum()), **reading}
            rows = [place + first_row for place in list(wrong)[:TOLD_MAX]]
            notes.append(f"{name}: " + misfit_note(reading, rows, list(wrong.values()), len(wrong)))
    frame = pd.DataFrame(columns, columns=list(raw.columns))
    if misfits:
        frame.attrs["misfits"] = misfits
    return frame, notes


def without_overflow(column):
    """A column of whole numbers whose sum would not fit the type as Python's own numbers, which have no bound."""
    if column.dtype.kind not in "iu" or not len(column) or not hasattr(column.dtype, "itemsize"):
        return column
    most = max(abs(int(column.min())), abs(int(column.max()))) if column.notna().all() else 0
    return column.astype("object") if most * len(column) >= 2**63 else column


def quickly_decided(name, values, rows_min=QUICK_FROM):
    """The reading of a long column whose texts are all written in one plain way, as `decide` would have it; None where
    they are not, or where the name may mean something else."""
    import pandas as pd

    if not isinstance(values.dtype, pd.StringDtype) or len(values) < rows_min:
        return None
    if IDENTIFIER_NAMES.search(name) or TRUTH_NAMES.search(name):
        return None
    may_be_time = DATE_NAMES.search(name) or TIME_NAMES.search(name)
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.drop_null(with_gaps(values))
    told = {"name": name, "notes": [], "present": len(texts), "missing": len(values) - len(texts)}
    first = texts[0].as_py() if len(texts) else ""
    if not first:
        return None
    if PLAIN.fullmatch(first):
        if may_be_time:
            return None
        if are_plain_integers(texts):
            return {"type": "integer"} | told
    among = different(texts)
    every = lambda pattern: pc.all(pc.match_substring_regex(among, pattern)).as_py()  # noqa: E731
    some = lambda pattern: pc.any(pc.match_substring_regex(among, pattern)).as_py()  # noqa: E731
    if PLAIN.fullmatch(first):
        if not every(r"^-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?$") or some(r"^-99+(\.0)?$"):
            return None
        if not some(r"[.eE]"):
            return {"type": "integer"} | told
        is_clear = some(r"^-?(0|[0-9]{4,})\.") or some(r"\.([0-9]{1,2}|[0-9]{4,})$")
        return {"type": "real"} | told if is_clear else None
    if re.fullmatch(ISO_SHAPE, first):
        return ({"type": "timestamp" if some("[T ]") else "date"} | told) if every(ISO_SHAPE) else None
    # Texts: as the first of them are, unless some are marks for nothing or they repeat.
    looked = decide(name, counts_of(texts[: 2 * LOOKED_MAX].to_pylist()), {})
    is_text = looked["type"] == "text" and not looked["notes"] and not some(r"^(\s*|[A-Za-z#<(.\\ /-]{1,8}[)>!]?|[–—?]+)$")
    return {"type": "text"} | told if is_text else None


def are_plain_integers(texts):
    """Whether texts are whole numbers without anything around them or zeros in front, and none that may stand for a gap."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return False
    low, high = pc.min_max(numbers).as_py().values()
    return -99 < low and high < 10**18 and pc.all(pc.equal(pc.cast(numbers, texts.type), texts)).as_py()


def counted(values):
    """The different values of a column and how often each occurs."""
    import pandas as pd

    if isinstance(values.dtype, pd.StringDtype) or values.dtype.kind in "iufbMm":
        counts = values.value_counts(dropna=False, sort=False)
        # pandas has a mark of its own for gaps among whole numbers and truth values, which compares with nothing.
        different = (None if value is pd.NA else value for value in counts.index.tolist())
        return dict(zip(different, counts.tolist()))
    return counts_of(values.tolist())


def is_native(values, reading):
    """Whether a column has its type already, as columns of Parquet files and databases do."""
    kind = values.dtype.kind
    wanted = reading["type"]
    return (
        kind in "iu" and wanted == "integer"
        or kind == "f" and wanted in NUMBERS and not is_infinite(values)
        or kind == "b" and wanted == "boolean"
        or kind == "M" and wanted in ("date", "timestamp")
        or wanted == "json"
    )


def is_infinite(values):
    """Whether a column of floating point holds what is no number."""
    import numpy as np

    return bool(np.isinf(values.to_numpy(dtype="float64", na_value=np.nan)).any())


# --- files -----------------------------------------------------------------------------------------------------------


def text_arguments(facts, names, columns=None):
    """How pandas is to cut the text of a table: fields as they are written, and nothing decided."""
    separator = facts.get("delimiter", ",")
    arguments = {"sep": r"\s+", "comment": "#"} if separator == " " else {"sep": separator}
    return arguments | {
        "encoding": facts.get("encoding", "utf-8"),
        "encoding_errors": "replace",
        "header": None,
        "names": names,
        "index_col": False,
        "skiprows": facts.get("skip", 0),
        "dtype": "str",
        "na_filter": False,
        "usecols": columns,
    }


def raw_text(source, facts, names, columns=None):
    """A table of text, every field as it is written."""
    import pandas as pd

    try:
        with even_lines(source, facts, len(names)):
            return pd.read_csv(source, **text_arguments(facts, names, columns))
    except pd.errors.EmptyDataError:
        return pd.DataFrame({name: pd.Series([], dtype="str") for name in columns or names})


@contextlib.contextmanager
def even_lines(source, facts, wanted):
    """Says which line of a text has more fields than there are names, where pandas does not take it."""
    import warnings

    import pandas as pd

    try:
        with warnings.catch_warnings():
            # Without this a line with more fields than there are names would lose its last ones.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        found = too_long(source, facts, wanted)
        what = f"line {found[0]} has {found[1]} fields where the header has {wanted}" if found else f"it is not a table of text: {str(error).strip()[:200]}"
        raise Unreadable(f"{what}; put a field that holds {facts.get('delimiter', ',')!r} or a line break in double quotes") from None


def too_long(source, facts, wanted):
    """The first line with more fields than there are names, and how many it has."""
    import csv

    reader = csv.reader(text_of(source, facts.get("encoding", "utf-8")), delimiter=facts.get("delimiter", ","))
    body = itertools.islice(reader, facts.get("skip", 0), None)
    return next(((reader.line_num, len(fields)) for fields in body if len(fields) > wanted), None)


def text_of(source, encoding):
    """The text of a file, or of a stream from its beginning."""
    if not hasattr(source, "read"):
        return open(source, encoding=encoding, errors="replace", newline="")
    source.seek(0)
    return source if isinstance(source, io.StringIO) else io.TextIOWrapper(source, encoding, "replace", newline="")


def sheets(path, kind, only=None):
    """The sheets of a workbook as (name, rows), every value as it is; an error of a formula stands as its text. `only` is the
    name of the one that is wanted."""
    if kind != "ods":
        yield from xlrd_sheets(path, only) if kind == "xls" else openpyxl_sheets(path, only)
        return
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_path(str(path))
    errors = ods_errors(path)
    for name in book.sheet_names if only is None else [only]:
        rows = with_whole_numbers(book.get_sheet_by_name(name).to_python(skip_empty_area=False))
        for row, column, shown in errors.get(name, ()):
            if row < len(rows) and column < len(rows[row]):
                rows[row][column] = shown
        yield name, rows


def ods_errors(path):
    """The errors of formulas in an OpenDocument workbook as (row, column, what is shown), by sheet: its reader takes them for
    cells without a value."""
    import zipfile
    from xml.parsers import expat

    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as stream:
        rest, has_any = b"", False
        while not has_any and (piece := stream.read(1 << 20)):
            has_any, rest = OPEN_ERROR in rest + piece, piece[-len(OPEN_ERROR) :]
    if not has_any:
        return {}
    found, place, shown = {}, {"row": 0, "column": 0, "height": 1, "width": 1}, None

    def start(tag, attributes):
        nonlocal shown
        if tag == "table:table":
            place.update(sheet=attributes.get("table:name"), row=0)
        elif tag == "table:table-row":
            place.update(column=0, height=int(attributes.get("table:number-rows-repeated", 1)))
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            place["width"] = int(attributes.get("table:number-columns-repeated", 1))
            shown = [] if attributes.get("calcext:value-type") == "error" else None

    def end(tag):
        nonlocal shown
        if tag == "table:table-row":
            place["row"] += place["height"]
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            if shown is not None:
                found.setdefault(place["sheet"], []).append((place["row"], place["column"], "".join(shown).strip() or "#ERROR"))
            place["column"], shown = place["column"] + place["width"], None

    def data(text):
        if shown is not None:
            shown.append(text)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as stream:
        parser.ParseFile(stream)
    return found


def openpyxl_sheets(path, only):
    import openpyxl

    # By its content: openpyxl refuses names with another ending.
    book = openpyxl.load_workbook(open(path, "rb"), read_only=True, data_only=True)
    for sheet in book.worksheets:
        if only in (None, sheet.title):
            rows = [list(row) for row in sheet.iter_rows(min_row=1, min_col=1, values_only=True)]
            while rows and all(cell is None for cell in rows[-1]):
                rows.pop()
            yield sheet.title, with_whole_numbers(rows)


def xlrd_sheets(path, only):
    import os

    import xlrd

    book = xlrd.open_workbook(path, on_demand=True, formatting_info=True, use_mmap=False, logfile=open(os.devnull, "w"))
    for name in book.sheet_names() if only is None else [only]:
        sheet = book.sheet_by_name(name)
        yield name, with_whole_numbers([[xlrd_value(cell, book) for cell in sheet.row(at)] for at in range(sheet.nrows)])


def xlrd_value(cell, book):
    """A cell's value; dates are kept as numbers and known by how they are shown."""
    import xlrd

    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#ERROR")
    if cell.ctype == xlrd.XL_CELL_DATE:
        shown = book.format_map.get(book.xf_list[cell.xf_index].format_key)
        try:
            if shown and LENGTH_FORMAT.search(shown.format_str):
                return datetime.timedelta(seconds=round(cell.value * 86400, 3))
            when = xlrd.xldate.xldate_as_datetime(cell.value, book.datemode)
            # A number below one is a time of some day.
            return when.time() if cell.value < 1 else when
        except xlrd.xldate.XLDateError:
            return cell.value
    return bool(cell.value) if cell.ctype == xlrd.XL_CELL_BOOLEAN else cell.value


def raw_table(path, facts, table, columns=None):
    """The table as it lies in its file: texts and native values, types undecided. Gives the place of its first row too."""
    import pandas as pd

    kind, names = facts["kind"], [column["name"] for column in table["columns"]]
    if table.get("parts"):
        return joined_parts(path, facts, table), 1
    at = facts | table
    if at.get("member") or at.get("packed"):
        path, kind = opened_member(path, at), at.get("inner", "csv")
    if kind in ("xlsx", "xlsm", "xls", "ods"):
        sheet = pd.DataFrame(next(rows for _, rows in sheets(path, kind, table["name"])), dtype="object")
        for first, last, column in at.get("merged", ()):
            sheet.iloc[first : last + 1, column] = sheet.iat[first, column]
        for column in at.get("percents", ()):
            sheet[column] = sheet[column].map(in_percent)
        start = at.get("skip", 0)
        body = sheet.iloc[start:].reset_index(drop=True)
        body = body.reindex(columns=range(len(names)))
        body.columns = names
        return trimmed(body), start + 1
    if kind in ("parquet", "feather", "arrow"):
        read = pd.read_parquet if kind == "parquet" else pd.read_feather
        return with_index(read(path, columns=columns)), 1
    if kind in ("json", "yaml", "yml", "toml", "ini", "cfg"):
        tree = tree_of(path, kind, at.get("path") or [])
        if at.get("split"):
            return pd.DataFrame(tree["data"], columns=tree["columns"]), 1
        if at.get("by_place"):
            return pd.DataFrame({name: pd.Series(list(values.values()), dtype="object") for name, values in tree.items()}), 1
        if at.get("inner_list"):
            return objects(inner_tables(records_of(tree))[at["inner_list"]]), 1
        return objects(records_of(tree)) if is_records(tree) else pd.DataFrame(tree), 1
    if kind in ("jsonl", "ndjson"):
        records = records_of(json_lines(path))
        return objects(inner_tables(records)[at["inner_list"]] if at.get("inner_list") else records), 1
    if kind in ("sqlite", "sqlite3", "db"):
        import sqlite3

        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        quoted = table["name"].replace('"', '""')
        return pd.read_sql_query(f'SELECT * FROM "{quoted}"', database), 1
    if kind == "xml":
        return pd.DataFrame(xml_records(path, table["name"], at.get("depth", 1)), columns=names, dtype="object"), 1
    if kind in MESSAGE_KINDS:
        return pd.DataFrame(message_records(path, kind)), 1
    if kind in ("h5", "hdf5"):
        return hdf5_table(path, at["arrays"]), 1
    if kind == "pdf":
        body = [(row + [None] * len(names))[: len(names)] for row in pdf_rows(path, at["page"], at["index"])[at.get("skip", 1) :]]
        return pd.DataFrame(body, columns=names, dtype="object"), at.get("skip", 1) + 1
    if kind in ("html", "htm", "docx"):
        rows = html_rows(path, at["index"]) if kind != "docx" else docx_rows(path, at["index"])
        body = [(row + [None] * len(names))[: len(names)] for row in rows[at.get("skip", 1) :]]
        return pd.DataFrame(body, columns=names, dtype="object"), at.get("skip", 1) + 1
    return trimmed(raw_text(path, at, *every_name(names, columns, at))), at.get("skip", 0) + 1


def every_name(names, columns, facts):
    """The names of all columns of a text, where some are beyond those that are read, and of those that are wanted."""
    beyond = [f"\0{place}" for place in range(facts.get("columns_left_out", 0))]
    return [*names, *beyond], columns or (names if beyond else None)


def with_index(frame):
    """A frame with the names of its rows as a column, as they stand in the file."""
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        return frame
    return frame.reset_index(names=[name if name is not None else f"__index_level_{at}__" for at, name in enumerate(frame.index.names)])


def joined_parts(path, facts, table):
    """Tables with the same columns one below the other, and which of them each row is of."""
    import pandas as pd

    return pd.concat(raw_parts(path, facts, table), ignore_index=True)


def raw_parts(path, facts, table):
    """The same table by table."""
    for part in table["parts"]:
        raw, _ = raw_table(path, facts, part)
        raw = trimmed(raw.iloc[: -part["left_out"]]) if part.get("left_out") else raw
        raw = raw.astype("object")
        raw.insert(0, table["part_column"], part["name"])
        yield raw


def trimmed(raw):
    """The rows without those at the end that hold no value at all: spreadsheets leave them."""
    end = len(raw)
    while end and all(is_blank(cell) for cell in raw.iloc[end - 1]):
        end -= 1
    return raw.iloc[:end]


def opened_member(path, at):
    import bz2
    import gzip
    import lzma
    import tarfile
    import zipfile

    member = at.get("member")
    if at["kind"] == "zip":
        return zipfile.ZipFile(path).open(member)
    if at["kind"] == "tar" or at.get("compressed"):
        return tarfile.open(path).extractfile(member)
    return {"gz": gzip.open, "tgz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[at["kind"]](path, "rb")


def bytes_of(path):
    return path.read() if hasattr(path, "read") else path.read_bytes()


def xml_records(path, name, level):
    """The elements of this name so many levels below the root, each as its attributes and the texts within it."""
    import xml.etree.ElementTree as tree

    records, depth = [], 0
    for event, element in tree.iterparse(path, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end" and depth == level:
            if element.tag == name or element.tag.rsplit("}", 1)[-1] == name:
                record = dict(element.attrib)
                for child in element:
                    record.setdefault(child.tag, (child.text or "").strip() or None)
                records.append(record)
            element.clear()
    return records


def html_rows(path, index):
    return [row for row in html_tables(bytes_of(path).decode("utf-8-sig", "replace"))[index] if row]


def html_tables(text):
    """The tables of a page as rows of texts. A cell that spans columns or rows stands in each of them."""
    from html.parser import HTMLParser

    tables, stack, spans = [], [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            stack.append(tag)
            if tag == "table":
                tables.append([])
                self.place, self.covered = 0, {}
            elif tag == "tr" and tables:
                tables[-1].append([])
                self.place = -1
                self.skip_covered()
            elif tag in ("td", "th") and tables and tables[-1]:
                width, height = (spanned(dict(attributes).get(name)) for name in ("colspan", "rowspan"))
                self.skip_covered()
                row = tables[-1][-1]
                self.place = len(row)
                if width * height > 1:
                    spans.append((tables[-1], len(tables[-1]) - 1, self.place, width, height))
                for at in range(self.place, self.place + width):
                    self.covered[at] = height - 1
                row += [""] * width

        def skip_covered(self):
            """Fills the places of a new cell that a cell of a row above covers."""
            row = tables[-1][-1]
            while self.covered.get(len(row), 0) > 0:
                self.covered[len(row)] -= 1
                row.append("")

        def handle_endtag(self, tag):
            if tag in stack:
                del stack[len(stack) - 1 - stack[::-1].index(tag) :]

        def handle_data(self, data):
            if ("td" in stack or "th" in stack) and tables and tables[-1] and tables[-1][-1]:
                tables[-1][-1][self.place] += data.strip()

    Reader(convert_charrefs=True).feed(text)
    for table, first, place, width, height in spans:
        shown = table[first][place]
        for row in table[first : first + height]:
            row[place : place + width] = [shown] * len(row[place : place + width])
    return tables


def spanned(text):
    return min(max(int(text), 1), SPAN_MAX) if text and text.isdecimal() else 1


def hdf5_table(path, names):
    """Arrays of an HDF5 file as one table: a single array of records, or arrays of one length as columns."""
    import h5py
    import pandas as pd

    with h5py.File(path, "r") as file:
        arrays = {name: file[name][()] for name in names}
    if len(names) == 1:
        array = arrays[names[0]]
        arrays = {field: array[field] for field in array.dtype.names}
    texts = lambda array: [item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in array.tolist()]  # noqa: E731
    return pd.DataFrame({name.rsplit("/", 1)[-1]: texts(array) for name, array in arrays.items()})


def pdf_rows(path, page, index):
    """A table of a page whose cells are divided by lines."""
    import pdfplumber

    with pdfplumber.open(path) as book:
        return [joined_lines(row) for row in book.pages[page].extract_tables()[index]]


def joined_lines(row):
    """The cells of a row, each in one line: a narrow column breaks its texts."""
    return [cell and " ".join(cell.split()) for cell in row]


def docx_rows(path, index):
    import docx

    return [[cell.text for cell in row.cells] for row in docx.Document(str(path)).tables[index].rows]


def loaded(path, facts, table, columns=None):
    """A table of a file with the types that were found, and what is worth saying about its values."""
    raw, first_row = raw_table(path, facts, table, columns)
    if columns is not None:
        raw = raw[columns]
    if table.get("left_out"):
        raw = trimmed(raw.iloc[: -table["left_out"]])
    readings = {column["name"]: column for column in table["columns"] if "type" in column}
    raw.columns = [str(name) for name in raw.columns]
    return typed_frame(raw, readings, first_row)
