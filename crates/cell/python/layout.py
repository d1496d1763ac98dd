# --- how a table lies in its text: part of the module that `reading.py` begins -----------------------------------------

DELIMITERS = ",;\t|"


def delimiter_of(start, is_cut=False):
    """The delimiter that cuts the first lines into equally many parts, more than one. `is_cut`: the last line is not whole."""
    import csv

    lines = [line for line in start.splitlines()[:50] if line.strip()]
    if is_cut and len(lines) > 1:
        lines.pop()
    best, found, is_name_cut = 0, ",", False
    for delimiter in DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            continue
        if not counts or max(counts) < 2:
            continue
        common = max(set(counts), key=lambda size: (counts.count(size), size))
        score = counts.count(common) / len(counts) * (1 if common > 1 else 0) + min(common, 50) / 1000
        # A decimal comma cuts every line too: what cuts the header as well is the delimiter.
        if counts[0] == common:
            score += 0.2
        if score > best:
            best, found = score, delimiter
            is_name_cut = counts[0] > 1
    # A single column of numbers with decimal commas: nothing cuts its name, and each line is one number.
    if best and not is_name_cut and sum(map(is_datum, lines[1:])) >= FIT * len(lines[1:]):
        return next((delimiter for delimiter in DELIMITERS if not any(delimiter in line for line in lines)), found)
    return found


def unseen_delimiter(declared, start):
    """What to say of a declared delimiter that the beginning of a text does not have, as a list."""
    return [f"the declared delimiter {declared!r} does not occur in it; each line is one field"] if declared and declared not in start else []


def unknown_encoding(name):
    """What to say of an encoding that is none, and what helps; None where it is one."""
    import codecs

    try:
        codecs.lookup(name)
    except LookupError:
        return f"there is no encoding {name!r}", "correct `encoding` in its `[data]` section of ordain.toml, for example `utf-8`, `cp1252` or `utf-16`"
    return None


# --- where a table begins and ends -----------------------------------------------------------------------------------

# Rows that are looked at to find the header, and to find remarks below the table.
HEAD_ROWS = 60
# Longer tables are no reports for people, with totals among their rows.
REPORT_ROWS_MAX = 100_000
# Rows that are added up to see whether the last one is their sum, whatever it is called.
ADDED_ROWS_MAX = 10_000
UNIT_IN_NAME = re.compile(r".*?[ _]*[\[(]([^\])]{1,12})[\])]|.*[ _]([A-Z]{3})")
REMARK = re.compile(r"(source|note|notes|remark|updated|last updated|quelle|stand|hinweis|anmerkung|bemerkung|remarque)s?\b.*|[*†©].*", re.I)


def layout(rows):
    """Where the body of a table begins, and the names of its columns: (start, names, units, notes).

    `rows` are its first rows as lists of cells. Rows above the header, a second header row and a row of units are
    told from data by what stands below them.
    """
    start, width, notes = above(rows)
    if start >= len(rows):
        return 0, [], {}, notes
    width = max(width, len(rows[start]))
    if not is_header(rows[start], rows[start + 1 : HEAD_ROWS]):
        return start, [str(at) for at in range(width)], {}, [*notes, "it has no header; its columns are numbered from 0"]
    return headed(rows, start, width, notes)


def above(rows):
    """Where a table begins, how wide it is, and what to say of the rows above it."""
    filled = [[at for at, cell in enumerate(row) if not is_blank(cell)] for row in rows[:HEAD_ROWS]]
    widths = collections.Counter(len(row) for row, cells in zip(rows, filled) if cells)
    width = max(widths, key=lambda size: (widths[size], size), default=0)
    notes, start = [], 0
    while start < len(filled) - 1 and is_above(filled[start], width):
        start += 1
    told = sum(1 for cells in filled[:start] if cells)
    if told:
        notes.append(f"{told} row{'s' if told > 1 else ''} above the header left out: {shown_row(next(row for row, cells in zip(rows, filled) if cells))}")
    return start, width, notes


def headed(rows, start, width, notes):
    """The same for a table whose first row of names is known."""
    below = rows[start + 1 : start + HEAD_ROWS]
    header = [cell_text(rows[start][at]) if at < len(rows[start]) else "" for at in range(width)]
    if len(rows[start]) == width - 1 and below and all(len(row) == width for row in below if row):
        # R writes the names of rows without a name above them.
        called = next(name for name in ("row", "row_name", "") if name not in header or not name)
        header = [called, *header[:-1]]
        notes.append("its rows begin with one field more than its header: their names" + (f", which are the column `{called}`" if called else ""))
    units = units_in(below, header)
    start += 1
    if units:
        notes.append(f"the row below its names gives units ({', '.join(units.values())})")
        start += 1
    elif len(below) > 1 and is_second_header(header, below):
        # pandas writes the name of the rows in a row of its own.
        names_rows = not header[0] and below[1] and not is_datum(below[1][0]) and [at for at, cell in enumerate(below[1]) if not is_blank(cell)] == [0]
        header = joined_header(header, below[0])
        notes.append("its names stand in two rows, which were joined")
        start += 1
        if names_rows:
            header[0] = cell_text(below[1][0])
            start += 1
    names = unique_names(header, notes)
    for at, name in enumerate(names):
        found = UNIT_IN_NAME.fullmatch(name)
        unit = found and (found[1] or found[2])
        if unit in CURRENCIES or found and found[1] and (unit in UNITS or unit == "%"):
            units.setdefault(at, unit)
    return start, names, units, notes


def laid_out(rows, header_row):
    """The same, with the row of the names as it was declared, counted from one."""
    if header_row is None:
        return layout(rows)
    if header_row > len(rows):
        return header_row, [], {}, []
    return headed(rows[: max(HEAD_ROWS, header_row)], header_row - 1, len(rows[header_row - 1]), [])


def is_blank(cell):
    return cell is None or cell != cell or isinstance(cell, str) and not cell.strip()


def cell_text(cell):
    if is_blank(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return " ".join(str(cell).strip("\ufeff").split())


def shown_row(row):
    return repr(" ".join(cell_text(cell) for cell in row if not is_blank(cell))[:60])


def is_above(cells, width):
    """Whether a row is empty, or a title or remark above a table of this width."""
    if not cells:
        return True
    return width > 1 and len(cells) == 1 and cells[0] < 2 or width > 3 and len(cells) <= 2 and max(cells) < 2


def is_datum(cell):
    """Whether a cell holds a number or a date."""
    if isinstance(cell, str):
        text = cell.strip()
        return bool(text) and (number_parts(text) is not None or date_parts(text, False) is not None)
    return not is_blank(cell) and not isinstance(cell, bool)


def is_header(first, below):
    cells = [cell for cell in first if not is_blank(cell)]
    if not cells:
        return False
    data = [cell for cell in cells if is_datum(cell)]
    if data:
        years = [cell_text(cell) for cell in data]
        is_repeated = len(set(years)) < len(years) and not (below and not any(map(is_datum, below[0])))
        return len(data) < len(cells) and not is_repeated and all(map(is_year, data))
    texts = [cell_text(cell) for cell in cells]
    # Names of groups repeat; a second and a third row of names may follow.
    return len(set(texts)) == len(texts) or any(has_typed_column(first, below[rows:]) for rows in range(3))


def has_typed_column(first, below):
    """Whether a column holds numbers or dates below a first cell that is none."""
    return any(not is_datum(cell) and is_typed(at, below) for at, cell in enumerate(first))


def is_typed(at, rows):
    """Whether a column of these rows holds numbers or dates."""
    cells = [row[at] for row in rows if at < len(row) and not is_blank(row[at])]
    return bool(cells) and sum(map(is_datum, cells)) >= FIT * len(cells)


def units_in(below, header):
    """The units that the row under the header names, by column: it names nothing else, and is no row of values, because
    numbers stand below each unit or, where nothing is below, because it has units for half the columns."""
    cells = map(cell_text, below[0] if below else [])
    row = {at: cell for at, cell in enumerate(cells) if cell and cell not in MISSING_TEXT}
    if not row or not all(map(names_unit, row.values())):
        return {}
    is_certain = all(is_typed(at, below[1:]) for at in row) if below[1:] else len(row) * 2 >= sum(1 for name in header if name)
    return {at: cell.strip("[]() ") for at, cell in row.items()} if is_certain else {}


def names_unit(cell):
    """Whether a cell is a unit, as in kg, EUR/kg, % and [m²]; an amount in brackets is none."""
    if is_datum(cell) or is_datum(cell.strip("[]() ")):
        return False
    is_known = all(part in UNITS or part in CURRENCIES or part == "%" for part in cell.split("/"))
    return is_known or cell in UNITS or bool(re.fullmatch(r"[\[(][^\])]{1,12}[\])]", cell))


def is_second_header(header, below):
    groups = [name for name in header if name]
    has_groups = len(groups) < len(header) or len(set(groups)) < len(groups)
    second = below[0]
    if not has_groups or sum(not is_blank(cell) for cell in second) < 2:
        return False
    data = [at for at, cell in enumerate(second) if is_datum(cell)]
    if not data:
        return has_typed_column(second, below[1:])
    # Years below a group are names where no other cell of their columns is a year.
    under = [row[at] for row in below[1:] for at in data if at < len(row)]
    return len(data) < len(second) and all(is_year(second[at]) for at in data) and not any(map(is_year, under))


def is_year(cell):
    return bool(re.fullmatch(r"(19|20)\d\d", cell_text(cell)))


def joined_header(header, second):
    """Group names stand over the first of their columns."""
    names, group = [], ""
    for at, name in enumerate(header):
        under = cell_text(second[at]) if at < len(second) else ""
        group = name or (group if under else "")
        names.append(f"{group} {under}".strip() if group != under else under)
    return names


def unique_names(header, notes):
    """Names as pandas gives them: an empty one by its place, a repeated one with a number."""
    names, seen = [], {}
    for at, name in enumerate(header):
        if not name:
            name = f"Unnamed: {at}"
            notes.append(f"column {at + 1} has no name and is called {name!r}")
        if name in seen:
            seen[name] += 1
            notes.append(doubled_note(name))
            name = f"{name}.{seen[name]}"
        seen.setdefault(name, 0)
        names.append(name)
    return names


def beyond_note(names, most):
    """What to say of a table with more columns than are read."""
    first, last = (str(name)[:60] for name in (names[most], names[-1]))
    return f"it has {len(names):,} columns; the first {most:,} are read, and {len(names) - most:,} are left out (`{first}` to `{last}`)"


def doubled_note(name):
    return f"two columns are called {name!r}; the later one is numbered"


def remarks_below(rows, width):
    """How many rows at the end of a table are no rows of it, and what to say: remarks that fill the first cell alone,
    below an empty row or beginning as remarks do. Lines without any field are not counted."""
    rows = list(rows)
    while rows and all(map(is_blank, rows[-1])):
        rows.pop()
    found = 0
    for back, row in enumerate(reversed(rows), 1):
        filled = [at for at, cell in enumerate(row) if not is_blank(cell)]
        if filled and (width < 2 or filled != [0] or not may_be_remark(row)):
            break
        if not filled or REMARK.fullmatch(cell_text(row[0])):
            found = back
    cut = rows[len(rows) - found :]
    told = [row for row in cut if not all(map(is_blank, row))]
    if not told:
        return 0, None
    said = f"{len(told)} row{'s' if len(told) > 1 else ''} below the table left out: {shown_row(told[0])}"
    return sum(1 for row in cut if row), said


def may_be_remark(row):
    """Whether a row whose first cell alone is filled reads as a remark, and not as a name without values."""
    text = cell_text(row[0])
    return not is_datum(row[0]) and bool(len(row) == 1 or ":" in text or len(text.split()) > 3 or REMARK.fullmatch(text))


def totals_among(rows, first_row):
    """What to say of rows with a cell that says that they are totals of others, or None. `rows` are lists of cells."""
    if len(rows) > REPORT_ROWS_MAX:
        return None
    last = len(rows) - 1
    found = [(place + first_row, label) for place, row in enumerate(rows) if (label := label_of_total(row, place == last))]
    if not found or len(found) * 2 > len(rows):
        return None
    told = ", ".join(f"{row} ({label[:30]})" for row, label in found[:TOLD_MAX]) + (", …" if len(found) > TOLD_MAX else "")
    if len(found) == 1:
        return f"row {told} may be a total of others; it is read as a row like any other, so that a sum counts values twice"
    return f"rows {told} may be totals of others; they are read as rows like any other, so that a sum counts values twice"


def label_of_total(row, is_last=False):
    """The cell that says that a row is a total: the first one in any of its forms, another one in these words alone; of the
    last row any one."""
    for at, cell in enumerate(row):
        text = cell.strip(" :") if isinstance(cell, str) else ""
        if text and (PARTIAL_TOTALS if at == 0 else TOTAL_LABELS if is_last else TOTAL_WORDS).fullmatch(text):
            return text
    return None


def repeated_header(rows, names, first_row):
    """What to say of rows that repeat the header, as exports that were appended to each other have it, or None."""
    found = [place + first_row for place, row in enumerate(rows[:REPORT_ROWS_MAX]) if len(names) > 1 and [cell_text(cell) for cell in row] == names]
    if not found:
        return None
    return f"the header stands again in row {', '.join(map(str, found[:TOLD_MAX]))}, which is read as a row like any other"


def second_table(rows, first_row):
    """What to say where an empty row is followed by what looks like the header of another table, or None."""
    for place in range(1, min(len(rows) - 2, HEAD_ROWS)):
        row = rows[place]
        names = [cell for cell in row if not is_blank(cell)]
        is_below_gap = all(map(is_blank, rows[place - 1])) and len(names) > 1
        if is_below_gap and not any(map(is_datum, names)) and has_typed_column(row, rows[place + 1 :]):
            return f"another table may begin in row {place + first_row}; all rows are read as one table"
    return None


def total_of(last, columns, readings):
    """What to say of a last row that is labelled a total and is that of those above, or None. `columns` hold all values,
    the last included."""
    if not is_total(last):
        return None
    return next((said for above, amount, rows in sums_above(columns, readings) if (said := total_note(last, above, amount, rows))), None)


def sums_above(columns, readings):
    """Of each column of numbers that can be added up: the sum of all values but the last, the last, and how many there are."""
    for values, reading in zip(columns, readings):
        if reading["type"] not in NUMBERS:
            continue
        parse = parser(reading)
        numbers = [parse(value) for value in values]
        # A value that does not fit adds nothing, as where the column is read.
        *above, last = [None if number is MISFIT else number for number in numbers]
        if last is not None:
            yield sum(number for number in above if number is not None), last, len(numbers)


def sums_of_others(last, columns, readings):
    """The sums above a last row that is the sum of the others in every column of numbers; none where it is not."""
    sums = list(sums_above(columns, readings)) if columns and 3 < len(columns[0]) <= ADDED_ROWS_MAX else []
    return sums if all(amount and total_note(last, above, amount, rows) for above, amount, rows in sums) else []


def sum_of_others(last, columns, readings):
    """What to say of a last row that is the sum of the others in every column of numbers, and is labelled otherwise: rows
    that happen to add up are rows."""
    if not sums_of_others(last, columns, readings):
        return None
    return f"its last row ({label_of(last)}) is the sum of the others; it is read as a row like any other"


def is_total(row):
    """Whether the label of a row says that it is a total."""
    label = label_of(row).rstrip(": ")
    return bool(TOTALS.fullmatch(label) or PARTIAL_TOTALS.fullmatch(label))


def label_of(row):
    return next((cell_text(cell) for cell in row if not is_blank(cell)), "")


def total_note(last, above, amount, rows):
    """What to say of a row that is labelled a total, where the rows above come to its amount."""
    if rows > 2 and abs(above - amount) <= 0.005 * rows**0.5:
        return f"its last row ({label_of(last)}) is the total of the others and was left out"
    return None
