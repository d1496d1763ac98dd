"""Decides how the columns of a table are read, and reads their values that way.

Ordain has one reader for tables: a look into a file, data files of checks and `frame` all ask this module, so that
the frame that code gets has exactly the types that a person was shown. It needs the standard library alone.

A column is decided as a whole, from all of its values and how often each occurs (`decide`). What comes out is a
*reading*: plain data with the type, the marks and orders that were taken, and what is worth saying. `parser` turns a
reading into a function from a value as it is written to the value that is meant. A value that is there and does not
fit is a misfit: it is counted and told, never left out silently.
"""

import collections
import datetime
import itertools
import json
import re

# The share of a column's values that must fit a type for the column to have it.
FIT, MISFITS = 0.9, 0.1
# Different values that a text column may have to be called a category.
CATEGORY_MAX = 50
# Different texts that are looked at first: where most of them do not fit a type, the column does not have it.
LOOKED_MAX = 2000
# Misfits that are told by their rows and values.
TOLD_MAX = 5
# Longer runs of digits are names of things, not quantities.
DIGITS_MAX = 18
TYPES = (
    "integer", "real", "decimal", "percent", "boolean", "date", "timestamp", "duration", "identifier", "category",
    "text", "json", "empty",
)
NUMBERS = ("integer", "real", "decimal", "percent")
TEXTS = ("identifier", "category", "text")

# Marks that say that there is no value, whatever the column holds.
MISSING = {"n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "(null)", "#null!", "\\n", "nat", "k.a.", "k. a."}
# Marks that say so among numbers, dates and truth values, where they can mean nothing else.
MISSING_TYPED = {"na", "none", "nil", "-", "--", "---", "–", "—", ".", "..", "...", "?", "missing", "unknown", "(blank)", "nd", "n.d."}
# Of these, the ones that stand for nothing among texts as well.
MISSING_TEXT = {"na", "-", "--", "---", "–", "—"}

TRUTH = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("oui", "non"),
    ("vrai", "faux"), ("wahr", "falsch"), ("si", "no"), ("sì", "no"), ("sí", "no"), ("on", "off"),
)
TRUTH_NAMES = re.compile(r"^(is|has|was|can|ist|hat|est)[ _]|flag$|^(active|enabled|disabled|deleted|valid|paid|shipped|aktiv|bezahlt)$", re.I)
IDENTIFIER_NAMES = re.compile(
    r"(^|[^a-z])(zip|zipcode|zip[ _]?code|post[ _]?code|postal|postal[ _]?code|plz|postleitzahl|npa|code[ _]?postal|phone|telephone|telefon|"
    r"tel|mobile|handy|fax|ean|gtin|upc|isbn|issn|iban|bic|ssn|ahv|vat|siret|siren|account[ _]?(no|nr|number)|"
    r"konto(nummer|nr)?|serial([ _]?(no|nr|number))?|sku|barcode)([^a-z]|$)", re.I,
)
DATE_NAMES = re.compile(r"date|datum|(^|[^a-z])(day|tag|jour|on|at)([^a-z]|$)", re.I)
DURATION_NAMES = re.compile(r"duration|elapsed|dauer|durée|duree|runtime|run time|time spent|length|uptime", re.I)
TOTALS = re.compile(r"(grand |sub)?totals?|sum|summe|gesamt(summe)?|insgesamt|total général|total general|somme|totale", re.I)

CURRENCIES = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW",
    "Fr.": "CHF", "SFr.": "CHF", "zł": "PLN", "R$": "BRL", "A$": "AUD", "C$": "CAD", "kr": "kr", "kr.": "kr",
} | {code: code for code in "USD EUR GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR TRY SGD HKD".split()}
UNITS = (
    "kg g mg t km m cm mm l ml h min s ms °C °F K kWh MWh W kW V A Hz kHz MHz GHz B KB MB GB TB KiB MiB GiB km/h m/s "
    "m² m2 m³ m3 km² ha pcs Stk bar Pa hPa J kJ kcal ppm dB mph ft in lb lbs oz mi"
).split()
_longest = lambda words: "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))  # noqa: E731
BLANKS = " \u00a0\u202f\u2009"
NUMBER = re.compile(
    rf"(?P<open>\()?[{BLANKS}]*(?P<sign>[-+−])?[{BLANKS}]*(?P<before>{_longest(CURRENCIES)})?[{BLANKS}]*(?P<inner>[-+−])?"
    rf"(?P<body>\d[\d.,'’{BLANKS}]*\d|\d[.,]?|[.,]\d+)(?P<exponent>[eE][+-]?\d{{1,3}})?(?:[.,](?P<dash>[-–—]+))?"
    rf"[{BLANKS}]*(?P<after>%|{_longest(CURRENCIES)}|{_longest(UNITS)})?(?P<trailing>-)?(?P<close>\))?"
)
PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
DIGITS = re.compile(r"\d+")

TIME = r"(?:(?:[T ]|, ?)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?[ ]?(?P<half>[AaPp]\.?[Mm]\.?)?[ ]?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
ISO = re.compile(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + TIME)
SHORT = re.compile(r"(?P<first>\d{1,2})(?P<mark>[-/.])[ ]?(?P<second_part>\d{1,2})(?P=mark)[ ]?(?P<year>\d{4}|\d{2})" + TIME)
NAMED = re.compile(r"(?:[^\W\d]{2,10}\.?,? )?(?P<day>\d{1,2})(?:\.|st|nd|rd|th)?[- ]?(?P<name>[^\W\d]{3,10})\.?,?[- ](?P<year>\d{4}|\d{2})" + TIME)
NAMED_FIRST = re.compile(r"(?:[^\W\d]{2,10}\.?,? )?(?P<name>[^\W\d]{3,10})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})" + TIME)
COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
MONTHS = {}
for _number, _names in enumerate((
    "january jan januar jän jänner janvier janv", "february feb februar février fév fevrier févr", "march mar märz mär mrz mars maerz",
    "april apr avril avr", "may mai", "june jun juni juin", "july jul juli juillet juil", "august aug août aout",
    "september sep sept septembre", "october oct oktober okt octobre", "november nov novembre",
    "december dec dezember dez décembre déc decembre",
), 1):
    MONTHS |= dict.fromkeys(_names.split(), _number)
CLOCK = re.compile(r"(?P<sign>-)?(?P<hour>\d{1,4}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,6}))?)?")
SPELLED = re.compile(r"(?i)(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d+) ?h(?:ours?|rs?)?,? ?)?(?:(\d+) ?m(?:in(?:utes?|s)?)?,? ?)?(?:(\d+(?:\.\d+)?) ?s(?:ec(?:onds?|s)?)?)?")
ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


class Misfit:
    """What a value is that is there and does not fit its column's type."""

    def __repr__(self):
        return "MISFIT"


MISFIT = Misfit()


# --- numbers ---------------------------------------------------------------------------------------------------------


def marks_of(body):
    """The (decimal, thousands) marks that a run of digits and marks can be written with; none where it is no number."""
    body = body.replace("’", "'")
    for blank in BLANKS[1:]:
        body = body.replace(blank, " ")
    groups = [mark for mark in " '" if mark in body]
    points, commas = body.count("."), body.count(",")
    if not groups and not points and not commas:
        return {(decimal, thousands) for decimal in ".," for thousands in ("", ".", ",", " ", "'") if decimal != thousands}
    if len(groups) > 1 or (points > 1 and commas > 1):
        return set()
    found = set()
    for decimal in ".,":
        whole, _, fraction = body.partition(decimal) if body.count(decimal) <= 1 else (body, "", "")
        if body.count(decimal) > 1 or not (fraction.isdigit() or not fraction):
            continue
        rest = {mark for mark in whole if not mark.isdigit()}
        if not rest:
            found |= {(decimal, thousands) for thousands in ("", ".", ",", " ", "'") if thousands != decimal}
        elif len(rest) == 1 and grouped(whole, thousands := rest.pop()):
            found.add((decimal, thousands))
    return found


def grouped(whole, mark):
    parts = whole.split(mark)
    if not 1 <= len(parts[0]) <= 3 or parts[0] == "0":
        return False
    by_thousand = all(len(part) == 3 for part in parts[1:])
    by_lakh = mark == "," and len(parts) > 2 and len(parts[-1]) == 3 and all(len(part) == 2 for part in parts[1:-1])
    return by_thousand or by_lakh


def number_parts(text):
    """The parts of a text that is written as a number, or None."""
    found = NUMBER.fullmatch(text)
    if not found or bool(found["open"]) != bool(found["close"]):
        return None
    if found["before"] and found["after"] in CURRENCIES:
        return None
    # A plus sign and groups of digits are a telephone number.
    if found["sign"] == "+" and any(blank in found["body"] for blank in BLANKS):
        return None
    return found


def number_value(found, decimal, thousands):
    body = found["body"].replace("’", "'")
    if thousands == " ":
        for blank in BLANKS:
            body = body.replace(blank, "")
    elif thousands:
        body = body.replace(thousands, "")
    body = body.replace(decimal, ".") + (found["exponent"] or "")
    is_negative = (found["sign"] or found["inner"]) in ("-", "−") or found["trailing"] or found["open"]
    value = int(body) if body.isdigit() and len(body) <= DIGITS_MAX else float(body)
    return -value if is_negative else value


class Numbers:
    """What the values of a column are as numbers."""

    def __init__(self, texts, natives):
        misses, allowed = 0, MISFITS * (sum(texts.values()) + sum(natives.values()))
        self.parts, self.fits = {}, collections.Counter()
        self.plain, self.native = 0, sum(natives.values())
        self.digits = True
        unclear = collections.Counter()
        for text, count in texts.items():
            if PLAIN.fullmatch(text):
                # Almost every number is written so; its marks are a point, or none.
                body = text.lstrip("-")
                self.digits &= "." not in body and text[0] != "-"
                if "." in body:
                    whole, _, fraction = body.partition(".")
                    unclear["." + ("3" if len(fraction) == 3 and len(whole) <= 3 and whole != "0" else "")] += count
                else:
                    self.plain += count
                self.parts[text] = None
                continue
            found = number_parts(text)
            if found is None:
                self.digits = False
                misses += count
                if misses > allowed:
                    break
                continue
            self.digits &= found["body"] == text
            marks = marks_of(found["body"])
            if marks:
                self.parts[text] = found
                for convention in marks:
                    self.fits[convention] += count
        for kind, count in unclear.items():
            for convention in ((".", ""), (".", ","), (".", " "), (".", "'")):
                self.fits[convention] += count
            if kind == ".3":
                for convention in ((",", "."),):
                    self.fits[convention] += count

    def count(self, texts):
        return self.native + sum(texts[text] for text in self.parts)


def decide_numbers(name, texts, natives, table):
    """The reading of a column of numbers, or None where it is none."""
    if not mostly(number_parts, texts):
        return None
    numbers = Numbers(texts, natives)
    total = sum(texts.values()) + numbers.native
    if numbers.count(texts) < FIT * total:
        return None
    if not numbers.native and is_identifier(name, texts, numbers):
        return None
    best = max(numbers.fits.values(), default=0)
    order = [(".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'")]
    if table.get("decimal") == ",":
        order = [(",", ""), (",", "."), (",", " "), (",", "'"), *order]
    if "given_decimal" in table or "given_thousands" in table:
        wanted = lambda mark, key: key not in table or table[key] == mark  # noqa: E731
        order = [(decimal, mark) for decimal, mark in order if wanted(decimal, "given_decimal") and (not mark or wanted(mark, "given_thousands"))]
        best = max((numbers.fits[convention] for convention in order), default=0)
    fitting = [convention for convention in order if numbers.fits[convention] == best]
    decimal, thousands = fitting[0] if fitting else (".", "")
    notes, is_open = [], False
    # Every value with a mark could mean two things: three digits behind a single point or comma.
    if fitting and is_unclear(numbers, texts, best) and not {"decimal", "given_decimal"} & set(table):
        # As 1,000 is written far more often than a value with three decimals behind a comma.
        decimal, thousands = (".", ",") if numbers.fits[(".", ",")] == best and any("," in text for text in numbers.parts) else (".", "")
        is_open = True
        shown = next(text for text in numbers.parts if "," in text or "." in text)
        value = number_value(number_parts(shown), decimal, thousands)
        notes.append(f"{shown} could be another number with point and comma exchanged; it is read as {value:,}")
    elif fitting and not is_unclear(numbers, texts, best) and any(mark in text for text in numbers.parts for mark in ".,"):
        table.setdefault("decimals", collections.Counter())[decimal] += 1
    # The usual mark goes without saying.
    reading = {key: mark for key, mark in (("decimal", decimal), ("thousands", thousands)) if mark not in ("", ".") or (key, mark) == ("thousands", ".")}
    reading |= {"unclear": True} if is_open else {}
    kinds = collections.Counter()
    for text, found in numbers.parts.items():
        kinds[(found["before"] or found["after"] or "") if found else ""] += texts[text]
    currencies = {CURRENCIES[kind] for kind in kinds if kind in CURRENCIES}
    units = {kind for kind in kinds if kind and kind not in CURRENCIES}
    if len(currencies) > 1 or len(units) > 1 or (currencies and units):
        told = ", ".join(sorted(currencies | units))
        return {"type": "text", "notes": [f"its numbers have several units ({told}), so it is read as text"]}
    has_fraction = any(
        found is None and "." in text or found is not None and has_decimals(found, decimal, thousands)
        for text, found in numbers.parts.items()
    ) or any(isinstance(value, float) and not value.is_integer() for value in natives if value == value)
    kind = "decimal" if currencies else "percent" if units == {"%"} else "real" if has_fraction else "integer"
    if currencies:
        reading["currency"] = currencies.pop()
    elif units:
        reading["unit"] = units.pop()
    bare = kinds[""]
    if len(kinds) > 1 and bare:
        notes.append(f"{bare} of {total} values have no {reading.get('currency') or reading['unit']}")
    return {"type": kind} | reading | {"notes": notes}


def has_decimals(found, decimal, thousands):
    body = found["body"]
    return bool(found["exponent"]) or decimal in body and body.rsplit(decimal, 1)[1] != ""


def is_unclear(numbers, texts, best):
    if not best:
        return False
    marked = [text for text in numbers.parts if "," in text or "." in text]
    return bool(marked) and all(len({decimal for decimal, _ in marks_of((number_parts(text) or {"body": ""})["body"])}) == 2 for text in marked)


def is_identifier(name, texts, numbers):
    """Digits that are no quantity: leading zeros, more digits than a number holds, or a name that says so."""
    if not numbers.digits or not all(text.isdigit() for text in numbers.parts):
        return False
    # The names of the days of a month and of months are numbers with a zero in front; so are codes.
    leading = any(len(text) > 1 and text[0] == "0" for text in numbers.parts)
    long = any(len(text) > DIGITS_MAX for text in numbers.parts)
    return leading or long or bool(IDENTIFIER_NAMES.search(name))


# --- dates, durations, truth -----------------------------------------------------------------------------------------


def date_parts(text, may_be_compact):
    for pattern in (ISO, SHORT, NAMED, NAMED_FIRST):
        found = pattern.fullmatch(text)
        if found and ("name" not in found.groupdict() or found["name"].lower() in MONTHS):
            return found
    return COMPACT.fullmatch(text) if may_be_compact else None


def moment(found, order):
    """The point in time that the parts mean with this order of day and month, or None where there is no such day."""
    parts = found.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= 70 else 2000
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second_part"])
        day, month = (first, second) if order == "day-first" else (second, first)
    else:
        day = int(parts["day"])
        month = MONTHS[parts["name"].lower()] if parts.get("name") else int(parts["month"])
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if parts["half"][0] in "Pp" else 0)
    fraction = int(((parts.get("fraction") or "") + "000000")[:6])
    try:
        value = datetime.datetime(year, month, day, hour, minute, second, fraction)
    except ValueError:
        return None
    zone = parts.get("zone")
    if zone and zone[0] in "+-":
        offset = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        value -= offset if zone[0] == "+" else -offset
    return value


def decide_dates(name, texts, natives, table):
    may_be_compact = bool(DATE_NAMES.search(name))
    if not mostly(lambda text: date_parts(text, may_be_compact), texts):
        return None
    parts = {}
    misses, allowed = 0, MISFITS * (sum(texts.values()) + sum(natives.values()))
    for text, count in texts.items():
        found = date_parts(text, may_be_compact)
        if found:
            parts[text] = found
        else:
            misses += count
            if misses > allowed:
                return None
    orders = {order: sum(texts[text] for text, found in parts.items() if moment(found, order)) for order in ("day-first", "month-first")}
    best = max(orders.values())
    total = sum(texts.values()) + sum(natives.values())
    if best + sum(natives.values()) < FIT * total:
        unreal = [text for text, found in parts.items() if not any(moment(found, order) for order in orders)]
        real = total - misses - sum(texts[text] for text in unreal)
        if real >= FIT * total:
            return {"type": "text", "notes": ["its dates are partly day-first and partly month-first, so it is read as text"]}
        if real * 2 >= total and not COMPACT.fullmatch(unreal[0]):
            return {"type": "text", "notes": [f"it holds dates, but {unreal[0]} is none, so it is read as text"]}
        return None
    reading, notes = {}, []
    short = [(text, found) for text, found in parts.items() if "first" in found.groupdict()]
    if short:
        both = orders["day-first"] == orders["month-first"]
        marks = {found["mark"] for _, found in short}
        if table.get("given_order"):
            order = table["given_order"]
        elif not both:
            order = max(orders, key=orders.get)
            table.setdefault("orders", collections.Counter())[order] += 1
        elif table.get("order"):
            order = table["order"]
        else:
            order = "day-first" if marks == {"."} or table.get("decimal") == "," else "month-first"
            if any(found["first"] != found["second_part"] for _, found in short):
                shown, found = next((text, found) for text, found in short if found["first"] != found["second_part"])
                said = moment(found, order).date().isoformat()
                reading["unclear"] = True
                notes.append(f"day and month could be exchanged in every value; {shown} is read {order}, as {said}")
        reading["order"] = order
    zones = {bool(found.groupdict().get("zone")) for found in parts.values()}
    has_time = any(found.groupdict().get("hour") for found in parts.values()) or any(
        isinstance(value, datetime.datetime) and (value.hour or value.minute or value.second) for value in natives
    )
    if True in zones or any(getattr(value, "tzinfo", None) is not None for value in natives):
        reading["zone"] = "UTC"
        if False in zones:
            notes.append("some of its points in time name no zone; they are taken as UTC")
    if any(COMPACT.fullmatch(text) for text in parts):
        notes.append("runs of eight digits are read as year, month and day")
    return {"type": "timestamp" if has_time else "date"} | reading | {"notes": notes}


def span(text):
    """A duration, or None."""
    found = CLOCK.fullmatch(text)
    if found:
        hours, minutes, seconds = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
        value = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=int(((found["fraction"] or "") + "000000")[:6]))
        return -value if found["sign"] else value
    found = ISO_DURATION.fullmatch(text) or SPELLED.fullmatch(text)
    if not found or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def decide_durations(name, texts, natives, _table):
    if not mostly(span, texts):
        return None
    total = sum(texts.values()) + sum(natives.values())
    clock = [text for text in texts if CLOCK.fullmatch(text)]
    # 14:30 is a time of the day unless something says that it is a length of time.
    if clock and not DURATION_NAMES.search(name) and not any(int(CLOCK.fullmatch(text)["hour"]) > 23 for text in clock):
        return None
    fits = sum(count for text, count in texts.items() if span(text) is not None) + sum(natives.values())
    return {"type": "duration", "unit": "s", "notes": ["lengths of time are read as seconds"]} if fits >= FIT * total else None


def decide_truth(name, texts, natives, _table):
    if len(texts) > 6:
        return None
    words = {text.lower() for text in texts}
    if not words:
        return {"type": "boolean", "notes": []}
    for yes, no in TRUTH:
        if words <= {yes, no} and (len(words) == 2 or natives or yes == "true"):
            return {"type": "boolean", "words": [yes, no], "notes": []}
    if words <= {"0", "1"} and TRUTH_NAMES.search(name):
        return {"type": "boolean", "words": ["1", "0"], "notes": ["0 and 1 are read as no and yes, because of its name"]}
    return None


# --- columns ---------------------------------------------------------------------------------------------------------


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
    nulls = {mark.lower() for mark in declared.get("null_values", ())}
    texts, natives, marks = collections.Counter(), {}, collections.Counter()
    missing = 0
    for value, count in counts.items():
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
    typed = collections.Counter({text: count for text, count in texts.items() if text.lower() not in MISSING_TYPED})
    asked = declared.get("type")
    reading = settled(name, texts, typed, natives, table, asked)
    is_text = reading["type"] in TEXTS
    for text, count in texts.items() if not (is_text and (asked or table.get("exact"))) else ():
        if text.lower() in (MISSING_TEXT if is_text else MISSING_TYPED) and not (is_text and is_code(text, texts)):
            marks[text] += count
    reading |= {key: value for key, value in declared.items() if key not in ("null_values", "name")}
    reading["name"] = name
    reading["missing"] = missing + sum(marks.values())
    reading["present"] = sum(counts.values()) - reading["missing"]
    if nulls or marks:
        reading["null_values"] = sorted(set(declared.get("null_values", ())) | set(marks))
    if marks:
        told = ", ".join(f"{mark!r} ({count})" for mark, count in marks.most_common(TOLD_MAX))
        reading["notes"].append(f"read as missing: {told}")
    return reading


def is_code(text, texts):
    """Whether a mark such as NA is one of many codes of its length, as in a list of countries."""
    alike = [other for other in texts if len(other) == len(text) and other.isupper() and other.isalpha()]
    return text.isupper() and text.isalpha() and len(alike) > 1 and len(alike) >= FIT * len(texts)


def settled(name, texts, typed, natives, table, asked):
    if asked:
        decider = DECIDERS.get(ASKED.get(asked))
        found = decider(name, typed, natives.get(ASKED[asked], {}), table) if decider else None
        if found is None or found["type"] == "text":
            found = {"notes": []}
        if asked == "duration":
            found.setdefault("unit", "s")
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
    if IDENTIFIER_NAMES.search(name):
        return {"type": "identifier", "notes": notes}
    looked = dict(itertools.islice(texts.items(), LOOKED_MAX))
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


def parser(reading):
    """The function from a value as it is written to the value that is meant: None where there is none, `MISFIT` where
    it does not fit."""
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
            return value if kind_of(value) == "number" else MISFIT
        if decimal == "." and PLAIN.fullmatch(value):
            return float(value) if "." in value or len(value) > DIGITS_MAX else int(value)
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
