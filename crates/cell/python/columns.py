# --- columns: part of the module that `reading.py` begins -----------------------------------------------------------------


def kind_of(value):
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "boolean"
    if isinstance(value, (int, float)) or type(value).__name__.startswith(("int", "uint", "float", "Decimal")):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return "date"
    if isinstance(value, datetime.timedelta):
        return "duration"
    return "other"


def with_whole_numbers(rows):
    """Rows in which a number without a fraction is an integer; some readers know only numbers with one."""
    return [[int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in row] for row in rows]


def in_percent(cell):
    """The number that a cell of percents shows: 12.5 for 0.125."""
    return round(cell * 100, 10) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else cell


def mostly(test, texts):
    """Whether most of the first different values pass a test: a column in which they do not is not looked at further."""
    looked = list(itertools.islice(texts, LOOKED_MAX))
    return not looked or sum(1 for text in looked if test(text)) * 2 >= len(looked)


DECIDERS = {"number": decide_numbers, "date": decide_dates, "duration": decide_durations, "boolean": decide_truth}
ASKED = {**dict.fromkeys(NUMBERS, "number"), "date": "date", "timestamp": "date", "duration": "duration", "boolean": "boolean"}


class Nested:
    """Stands for a list or an object, which is no key of a count: its kind is all that matters."""


def counts_of(values):
    """The different values of a column and how often each occurs."""
    try:
        return collections.Counter(values)
    except TypeError:
        return collections.Counter(value if value.__hash__ else NESTED for value in values)


NESTED = Nested()


def decide(name, counts, table, declared=None):
    """The reading of a column from its different values and how often each occurs.

    `table` is what the columns of one table tell each other: the decimal mark, the order of day and month. In a table
    that is `exact`, such as a Parquet file, a text is a text: only dates are looked for in it.
    `declared` is a reading, or a part of one, that the owner gave: it wins.
    """
    declared = declared or {}
    if not table.get("exact") and counts and all(isinstance(value, str) and (FORMULA_TEXT.fullmatch(value) or not value.strip()) for value in counts):
        inner = collections.Counter()
        for value, count in counts.items():
            inner[FORMULA_TEXT.sub(r"\1", value)] += count
        if any(value.strip() for value in inner):
            return decide(name, inner, table, declared) | {"formula_text": True}
    nulls = {mark.lower() for mark in declared.get("null_values", ())}
    texts, natives, marks = collections.Counter(), {}, collections.Counter()
    missing = 0
    for value, count in counts.items():
        if isinstance(value, datetime.time):
            value = str(value)
        if value is None or value != value:
            missing += count
        elif isinstance(value, str):
            text = value.strip()
            lower = text.lower()
            if not text:
                missing += count
            elif lower in nulls or lower in MISSING and not table.get("exact"):
                marks[text] += count
            else:
                texts[text] += count
        else:
            natives.setdefault(kind_of(value), {})[value] = count
    typed = collections.Counter({text: count for text, count in texts.items() if not is_missing_typed(text)})
    asked = declared.get("type")
    reading = settled(name, texts, typed, natives, table, asked)
    is_text = reading["type"] in TEXTS
    if is_text and reading["notes"]:
        # Why it is no number: whoever asks for a figure of it is told.
        reading["because"] = reading["notes"][0]
    codes = [text for text in texts if is_text and text.lower() in MISSING_TEXT and is_code(text, texts)]
    for text, count in texts.items() if not (is_text and (asked or table.get("exact"))) else ():
        if text.lower() in MISSING_TEXT and text not in codes if is_text else is_missing_typed(text):
            marks[text] += count
    reading |= {key: value for key, value in declared.items() if key not in ("null_values", "name")}
    reading["name"] = name
    reading["missing"] = missing + sum(marks.values())
    reading["present"] = sum(counts.values()) - reading["missing"]
    if nulls or marks:
        reading["null_values"] = sorted(set(declared.get("null_values", ())) | set(marks))
    if codes and not asked and not table.get("exact"):
        reading["notes"].append(f"{', '.join(map(repr, codes))} is a code like the others and is kept; `null_values` in `[data]` reads it as missing")
    if marks:
        told = ", ".join(f"{mark!r} ({count})" for mark, count in marks.most_common(TOLD_MAX))
        reading["notes"].append(f"read as missing: {told}")
    if reading["type"] == "integer" or reading["type"] == "real":
        reading["notes"] += doubts(name, counts, reading)
    if is_text and not table.get("exact"):
        reading["notes"] += nearly_alike(counts)
    return reading


def nearly_alike(counts):
    """What to say of texts that differ by case or blanks alone: they may be meant as one."""
    seen = {}
    for value in itertools.islice(counts, LOOKED_MAX):
        if isinstance(value, str) and value.strip():
            seen.setdefault(" ".join(value.lower().split()), []).append(value)
    alike = [values for values in seen.values() if len(values) > 1]
    if not alike or len(counts) > LOOKED_MAX:
        return []
    return [f"{', '.join(map(repr, alike[0][:3]))} differ by case or blanks alone; they are different values here"]


def is_missing_typed(text):
    """Whether a text stands for no value among numbers, dates and truth values."""
    if text.lower() in MISSING_TYPED:
        return True
    found = MISSING_AMOUNT.fullmatch(text)
    return bool(found) and all(not part or part in CURRENCIES or part in UNITS or part == "%" for part in found.groups())


def doubts(name, counts, reading):
    """What numbers may mean besides a quantity: a missing value, or a point in time. They stay numbers."""
    has_name = DATE_NAMES.search(name) or TIME_NAMES.search(name)
    if not has_name and not any(str(value).strip() in SENTINELS for value in counts):
        return []
    parse = parser(reading)
    numbers = sorted({number for value in counts if isinstance(number := parse(value), (int, float))})
    if len(numbers) < 2:
        return []
    low, next_low, high = numbers[0], numbers[1], numbers[-1]
    if str(low) in SENTINELS and next_low > low / 2:
        return [f"{low} may stand for a missing value; `null_values` in `[data]` says so"]
    if not has_name:
        return []
    for what, unit, from_day in (("seconds since 1970", 1, None), ("milliseconds since 1970", 1000, None), ("days of a spreadsheet", None, 25569)):
        first, last = ((number - from_day) * 86400 if from_day else number / unit for number in (low, high))
        if 631152000 <= first and last <= 2524608000:
            day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=first)
            return [f"its numbers may be {what} ({low} is {day.date().isoformat()}); they are read as numbers"]
    return []


def is_code(text, texts):
    """Whether a mark such as NA is one of many codes of its length and case, as in a list of countries. In lower case words are
    written too, so each code stands there once."""
    if not text.isalpha() or not (text.isupper() or text.islower()):
        return False
    alike = [other for other in texts if len(other) == len(text) and other.isalpha() and other.isupper() == text.isupper() and (other.isupper() or other.islower())]
    return len(alike) > 1 and len(alike) >= FIT * len(texts) and (text.isupper() or sum(texts.values()) == len(texts))


def settled(name, texts, typed, natives, table, asked):
    if asked:
        decider = DECIDERS.get(ASKED.get(asked))
        found = decider(name, typed, natives.get(ASKED[asked], {}), table) if decider else None
        if found is None or found["type"] == "text":
            found = {"notes": []}
        if asked == "duration":
            found.setdefault("unit", "s")
        if asked == "percent" and typed and not any("%" in text for text in typed):
            found["notes"].append("it is declared as percent, and none of its values has the mark; 0.05 is read as 0.05 %")
        if asked in NUMBERS and table.get("decimal") == ",":
            found.setdefault("decimal", ",")
        if asked in ("date", "timestamp") and (table.get("given_order") or table.get("order")):
            found["order"] = table.get("given_order") or table["order"]
        return found | {"type": asked}
    if not texts and not natives:
        return {"type": "empty", "notes": []}
    if not typed and not natives:
        return as_text(name, texts)
    kinds = set(natives)
    if kinds == {"number"} and any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in natives["number"]):
        return {"type": "identifier", "notes": ["whole numbers of more than 18 digits are names of things and no quantities"]}
    if not kinds and DATE_NAMES.search(name) and all(COMPACT.fullmatch(text) for text in typed):
        found = decide_dates(name, typed, {}, table)
        if found:
            return found
    if kinds <= {"number", "date", "duration", "boolean"} and len(kinds) <= 1:
        order = list(kinds) or (["date"] if table.get("exact") else ["boolean", "number", "date", "duration"])
        for kind in order:
            found = DECIDERS[kind](name, typed, natives.get(kind, {}), table)
            if found:
                return found
        if not kinds:
            return as_text(name, texts)
    if kinds == {"other"} and not texts:
        return {"type": "json", "notes": []}
    shown = sorted((kinds | ({"text"} if texts else set())) - {"other"} | ({"nested values"} if "other" in kinds else set()))
    return {"type": "text", "notes": [f"it holds values of several kinds ({', '.join(shown)}), so it is read as text"]}


def as_text(name, texts):
    total, different = sum(texts.values()), len(texts)
    notes = []
    if texts and all(text.isdigit() for text in texts):
        if not IDENTIFIER_NAMES.search(name):
            notes.append("digits with zeros in front, or very many of them, are names of things and no quantities")
        return {"type": "identifier", "notes": notes}
    if IDENTIFIER_NAMES.search(name) or VERSION_NAMES.search(name) and all(re.fullmatch(r"[\d.]+", text) for text in texts):
        return {"type": "identifier", "notes": notes}
    looked = dict(itertools.islice(texts.items(), LOOKED_MAX))
    if all(CLOCK.fullmatch(text) for text in looked) and looked:
        return {"type": "text", "notes": ["its values are times of the day or lengths of time; `duration` in `[data]` reads them as lengths"]}
    found = {found[1] if (found := LED_BY_NUMBER.fullmatch(text)) else None for text in looked}
    if None not in found and len(found) <= 5 and total > 1 and found:
        notes.append(f"its values begin with numbers, but what follows ({', '.join(sorted(found))}) is no known unit, so it is read as text")
        return {"type": "text", "notes": notes}
    for what, test in (("numbers", lambda text: number_parts(text) is not None), ("dates", lambda text: date_parts(text, False) is not None)):
        fitting = sum(count for text, count in looked.items() if test(text))
        if sum(looked.values()) / 2 <= fitting < sum(looked.values()):
            other = next(text for text in looked if not test(text))
            notes.append(f"many of its values are {what} and others are not ({other[:40]!r}), so it is read as text")
            return {"type": "text", "notes": notes}
    is_category = different <= CATEGORY_MAX and different * 2 <= total
    return {"type": "category" if is_category else "text", "notes": notes}


def decide_all(columns, declared=None, table=None, ready=None):
    """The readings of a table's columns, given as (name, counts). Columns that are clear decide for those that are not.
    What is in `ready` has been decided."""
    declared, table, ready = declared or {}, dict(table or {}), ready or {}
    nulls = table.get("null_values")
    if nulls:
        # Marks that the owner gives hold for every column.
        declared = {name: {"null_values": nulls, **declared.get(name, {})} for name, _ in columns}
    first = [ready.get(name) or decide(name, counts, table, declared.get(name)) for name, counts in columns]
    again = dict(table)
    for key, found in (("decimal", "decimals"), ("order", "orders")):
        votes = table.get(found)
        if votes and len(votes) == 1 and key not in again:
            again[key] = next(iter(votes))
    if again.keys() == {key for key in table if key not in ("decimals", "orders")}:
        return first
    again = {key: value for key, value in again.items() if key not in ("decimals", "orders")}
    return [
        decide(name, counts, dict(again), declared.get(name)) if reading.get("unclear") else reading
        for (name, counts), reading in zip(columns, first)
    ]


def of_table(readings, counts):
    """What to say of the columns of a table together: amounts in the currencies that another column names."""
    for reading, (name, values) in zip(readings, counts):
        texts = {value.strip() for value in values if isinstance(value, str) and value.strip()} if len(values) <= CATEGORY_MAX else set()
        if len(texts) > 1 and texts <= CURRENCIES.keys() and any(other["type"] in ("integer", "real") for other in readings):
            return [f"`{name}` names several currencies ({', '.join(sorted(texts))}), so an amount of all rows together is in none of them"]
    return []


STORED_TYPES = (
    ("int", "integer"), ("uint", "integer"), ("float", "real"), ("double", "real"), ("halffloat", "real"), ("decimal", "real"),
    ("bool", "boolean"), ("timestamp", "timestamp"), ("date", "date"), ("string", "text"), ("large_string", "text"),
)


def as_stored(reading, stored):
    """The reading of a column without any value: the type that its file says it has, where there is one."""
    kind = next((kind for begin, kind in STORED_TYPES if str(stored).startswith(begin)), None)
    return reading | {"type": kind} if reading["type"] == "empty" and kind else reading


def undeclared(names, declared):
    """What to say of declared columns that a table does not have."""
    names = list(names)
    return [f"`{name}` is declared in `[data]`, and there is no such column" for name in declared or () if name not in names]


def parser(reading):
    """The function from a value as it is written to the value that is meant: None where there is none, `MISFIT` where
    it does not fit."""
    if reading.get("formula_text"):
        parse_inner = parser({key: value for key, value in reading.items() if key != "formula_text"})
        return lambda value: parse_inner(FORMULA_TEXT.sub(r"\1", value) if isinstance(value, str) else value)
    kind = reading["type"]
    nulls = {mark.lower() for mark in reading.get("null_values", ())}
    value_of = {**dict.fromkeys(NUMBERS, parse_number), "date": parse_date, "timestamp": parse_date, "duration": parse_span, "boolean": parse_truth}.get(kind)
    if kind in TEXTS or kind == "empty":
        # A text that is read again is what it was, blanks at its ends included.
        return lambda value: None if value is None or value != value or isinstance(value, str) and (not value.strip() or value.strip().lower() in nulls) else value if isinstance(value, str) else str(value)
    if value_of is None:
        return lambda value: value
    arguments = value_of(reading)

    def parse(value):
        if value is None or value != value:
            return None
        if isinstance(value, datetime.time):
            value = str(value)
        if isinstance(value, str):
            value = value.strip()
            if not value or value.lower() in nulls:
                return None
        return arguments(value)

    return parse


def parse_number(reading):
    decimal, thousands = reading.get("decimal", "."), reading.get("thousands", "")
    is_whole = reading["type"] == "integer"

    def parse(value):
        if isinstance(value, bool):
            return MISFIT
        if not isinstance(value, str):
            return within_bounds(value) if kind_of(value) == "number" else MISFIT
        if decimal == "." and PLAIN.fullmatch(value):
            return within_bounds(float(value)) if "." in value or len(value) > DIGITS_MAX else int(value)
        found = number_parts(value)
        if found is None or (decimal, thousands) not in marks_of(found["body"]):
            return MISFIT
        return number_value(found, decimal, thousands)

    if not is_whole:
        return parse

    def parse_whole(value):
        number = parse(value)
        return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**63 else number

    return parse_whole


def parse_date(reading):
    order, pattern = reading.get("order", "month-first"), reading.get("format")

    def parse(value):
        if isinstance(value, datetime.datetime):
            if value.tzinfo is not None:
                return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return value
        if isinstance(value, datetime.date):
            return datetime.datetime(value.year, value.month, value.day)
        if not isinstance(value, str):
            return MISFIT
        if pattern:
            try:
                return datetime.datetime.strptime(value, pattern)
            except ValueError:
                return MISFIT
        found = date_parts(value, True)
        when = moment(found, order) if found else None
        return MISFIT if when is None else when

    return parse


def parse_span(_reading):
    def parse(value):
        found = value if isinstance(value, datetime.timedelta) else span(value) if isinstance(value, str) else None
        return MISFIT if found is None else found.total_seconds()

    return parse


def parse_truth(reading):
    yes, no = reading.get("words") or ("true", "false")
    known = {yes: True, no: False}
    for one, other in (*TRUTH, ("1", "0")) if not reading.get("words") else ():
        known |= {one: True, other: False}

    def parse(value):
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            return bool(value)
        return known.get(str(value).lower(), MISFIT)

    return parse


def misfit_note(reading, rows, values, count):
    """One sentence about the values that do not fit."""
    what = {"date": "dates", "timestamp": "points in time", "duration": "durations", "boolean": "truth values"}.get(reading["type"], "numbers")
    where = ", ".join(str(row) for row in rows[:TOLD_MAX]) + (", …" if count > TOLD_MAX else "")
    shown = ", ".join(repr(str(value)[:40]) for value in values[:3])
    return f"{count:,} of {reading['present']:,} values cannot be read as {what}: row{'s' if count > 1 else ''} {where} ({shown})"
