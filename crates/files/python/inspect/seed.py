# --- a seed: the rows of one table, with their lines and the types of the store --------------------------------------

import ordain  # noqa: E402

# Values of the rows that go to the host at once.
CELLS_AT_ONCE = 20_000
STORE_TYPES = {
    **dict.fromkeys(("integer", "boolean", "timestamp", "json"), None), "date": "timestamp", "empty": "json",
    **dict.fromkeys(("real", "decimal", "percent", "duration"), "real"), **dict.fromkeys(ordain_reading.TEXTS, "text"),
}


class Fault(Exception):
    """A seed is not loaded: why, and at which line."""

    def __init__(self, what, line=None, hint=None):
        super().__init__(what)
        self.line, self.hint = line, hint


def seed_table(facts, wanted):
    tables = facts.get("tables", [])
    if wanted:
        tables = [table for table in tables if table.get("name") == wanted]
    if len(tables) == 1:
        return tables[0]
    if not facts.get("tables"):
        raise Fault("it holds no table")
    names = ", ".join(repr(table["name"]) if table.get("name") else "one without a name" for table in facts["tables"])
    raise Fault(f"it holds several tables: {names}", None, "say which one with `sheet` in a `[data]` section of the file's name")


def written_rows(path, facts, table, width):
    """The line of each row of a table of text, and its fields as they are written."""
    import csv

    rows = []
    with open(path, encoding=facts["encoding"], errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=facts["delimiter"])
        for number, row in enumerate(reader):
            if number < table["skip"] or not row:
                continue
            if len(row) != width:
                hint = f"put a cell that holds {facts['delimiter']!r} in double quotes"
                raise Fault(f"the row has {len(row)} cells, the header {width}", reader.line_num, hint)
            rows.append((reader.line_num, row))
    return kept_rows(rows, table)


def loaded_rows(path, facts, table, names):
    """The same of a table in any other form: undecided values, and their places as a spreadsheet counts them."""
    raw, first_row = ordain_reading.raw_table(path, facts, table)
    raw.columns = [str(name) for name in raw.columns]
    rows = zip(*(raw[name].astype("object").where(raw[name].notna(), None).tolist() for name in names))
    rows = [(place + first_row, list(row)) for place, row in enumerate(rows)]
    return kept_rows(rows, table)


def kept_rows(rows, table):
    """The rows without empty ones, remarks and a total at the end."""
    trim = lambda rows: rows[: max((at for at, row in enumerate(rows, 1) if not all(map(ordain_reading.is_blank, row[1]))), default=0)]  # noqa: E731
    rows = trim(rows)
    return trim(rows[: -table["left_out"]]) if table.get("left_out") else rows


def seed_value(reading):
    """The function from a value as it is written to a value of the store, `MISFIT` where there is none."""
    parse, kind = ordain_reading.parser(reading), reading["type"]
    if kind == "json":
        return json_value
    if kind not in ("date", "timestamp"):
        return lambda value: seen if (seen := parse(value)) is None or seen is ordain_reading.MISFIT or not hasattr(seen, "item") else seen.item()
    zone = "+00:00" if reading.get("zone") else ""

    def moment(value):
        seen = parse(value)
        if seen is None or seen is ordain_reading.MISFIT:
            return seen
        return seen.date().isoformat() if kind == "date" else seen.isoformat() + zone

    return moment


def json_value(value):
    if not isinstance(value, str):
        return value
    try:
        return ordain_reading.json_of(value) if value.strip() else None
    except ValueError:
        return ordain_reading.MISFIT


def seeded(name, path):
    facts = facts_of(name, path)
    if "problem" in facts:
        raise Fault(facts["problem"])
    facts["kind"] = facts.get("format") or name.rsplit(".", 1)[-1].lower()
    table = seed_table(facts, DECLARED.get("sheet"))
    if table.get("columns_left_out"):
        raise Fault(f"there are more than {COLUMNS_MAX} columns")
    readings = table["columns"]
    is_text = facts["kind"] in ("csv", "tsv")
    names = [reading["name"] for reading in readings]
    rows = written_rows(path, facts, table, len(names)) if is_text else loaded_rows(path, facts, table, names)
    columns = [[one["name"], STORE_TYPES.get(one["type"]) or one["type"]] for one in readings]
    notes = table.get("notes", []) + [f"{one['name']}: {note}" for one in readings for note in one.get("notes", []) if "misfits" not in one]
    units = {one["name"]: unit for one in readings if (unit := one.get("currency") or one.get("unit"))}
    notes += [f"{name}: its numbers are in {unit}" for name, unit in units.items()]
    notes += [f"{one['name']}: its points in time name a zone; they are kept in UTC, and their days are those of UTC" for one in readings if one.get("zone")]
    ordain.call("seed.columns", columns=columns, notes=notes, units=units)
    values = [seed_value(reading) for reading in readings]
    batch = max(1, CELLS_AT_ONCE // max(1, len(names)))
    for start in range(0, len(rows), batch):
        ordain.call("seed.rows", rows=[[line, typed_row(line, row, readings, values)] for line, row in rows[start : start + batch]])


def typed_row(line, row, readings, values):
    typed = [value(cell) for value, cell in zip(values, row)]
    for reading, value, cell in zip(readings, typed, row):
        if value is ordain_reading.MISFIT:
            kind = STORE_TYPES.get(reading["type"]) or reading["type"]
            raise Fault(f"column `{reading['name']}` cannot hold `{short(cell)}`; it holds {kind} values", line)
    return typed


DECLARED = settings["declared"]  # noqa: F821
try:
    seeded(settings["name"], files[settings["name"]])  # noqa: F821
except (Fault, ordain_reading.Unreadable) as fault:
    ordain.call("seed.fault", message=str(fault), line=getattr(fault, "line", None), hint=getattr(fault, "hint", None))
except MemoryError:
    raise
except Exception as error:
    ordain.call("seed.fault", message=f"it cannot be read: {type(error).__name__}: {short(error, 160)}", line=None, hint=None)
