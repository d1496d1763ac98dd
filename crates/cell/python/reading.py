"""Decides how the columns of a table are read, and reads their values that way.

Ordain has one reader for tables: a look into a file, data files of checks and `frame` all ask this module, so that
the frame that code gets has exactly the types that a person was shown. It needs the standard library alone.

A column is decided as a whole, from all of its values and how often each occurs (`decide`). What comes out is a
*reading*: plain data with the type, the marks and orders that were taken, and what is worth saying. `parser` turns a
reading into a function from a value as it is written to the value that is meant. A value that is there and does not
fit is a misfit: it is counted and told, never left out silently.
"""

import collections
import contextlib
import datetime
import io
import itertools
import json
import math
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
# Floating point holds every number of so many digits.
FLOAT_DIGITS_MAX = 300
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
# Such a dash with a currency or a unit, as spreadsheets show an amount that is none; and the lettered marks of Stata.
MISSING_AMOUNT = re.compile(r"(?P<before>[^\d\s]{1,4})?\s*[-–—]+\s*(?P<after>[^\d\s]{1,4})?|\.[a-z]")
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
DATE_NAMES = re.compile(r"date|datum|(^|[^a-z])(day|tag|jour|on|at|month|monat|mois)([^a-z]|$)", re.I)
VERSION_NAMES = re.compile(r"(^|[^a-z])(version|release|build|section|chapter|kapitel)([^a-z]|$)", re.I)
TIME_NAMES = re.compile(r"time|(^|[^a-z])(ts|epoch|created|updated|modified|when)([^a-z]|$)", re.I)
DURATION_NAMES = re.compile(r"duration|elapsed|dauer|durée|duree|runtime|run time|time spent|length|uptime", re.I)
# The label of a last row that is a total, which is left out where it is the sum of the others.
TOTALS = re.compile(
    r"\*{0,3}\W?((grand |sub-?)?totals?|sum|summa|summe|endsumme|gesamt(summe|ergebnis)?|ergebnis|insgesamt|all|alle|overall|total général|"
    r"total general|somme|somma|suma|totale|totaal|razem|łącznie|ogółem|toplam|итого|всего|合計|合计|总计|σ|total [A-Za-z]{3})\W?\*{0,3}|\*{1,3}", re.I,
)
# The label of a row that sums others up, such as "Subtotal Q1", "North Total", "Average" and "Closing balance".
PARTIAL_TOTALS = re.compile(
    r"((sub-?|grand )?totals?|zwischensumme|gesamtsumme|sous-total)\b.*|.*\b((sub)?totals?|ergebnis|gesamt|summe)|"
    r"average|mean|median|durchschnitt|mittelwert|moyenne|(opening|closing|ending|final) balance|(balance |amount )?(brought|carried) forward|"
    r"übertrag|(anfangs|end|schluss)(saldo|bestand)|saldo|report à nouveau", re.I,
)
TOTAL_WORDS = re.compile(r"(sub-?|grand )totals?|zwischensumme|gesamtsumme|sous-total", re.I)
TOTAL_LABELS = re.compile(r"(sub-?|grand )?totals?|summe|zwischensumme|gesamt(summe)?|sous-total", re.I)
# Numbers that instruments and statistics programs write where they have none.
SENTINELS = ("-99", "-999", "-9999", "-99999", "-99.0", "-999.0", "-9999.0", "-99999.0")

CURRENCIES = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW",
    "Fr.": "CHF", "SFr.": "CHF", "zł": "PLN", "R$": "BRL", "A$": "AUD", "C$": "CAD", "kr": "kr", "kr.": "kr",
} | {code: code for code in "USD EUR GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR TRY SGD HKD".split()}
UNITS = (
    "kg g mg µg μg t kt km m cm mm µm μm nm l L ml mL cl cL dl dL hl hL µl μl h min s ms µs ns d °C °F °K K ° Wh kWh MWh GWh TWh W kW MW GW TW mW "
    "V kV mV A mA kA Ah mAh VA kVA MVA Ω kΩ Hz kHz MHz GHz B KB kB MB GB TB PB KiB MiB GiB TiB kbit/s Mbit/s Gbit/s Mbps Gbps km/h m/s kn "
    "m² m2 m³ m3 cm² cm2 cm³ cm3 mm² mm2 km² km2 ha pcs Stk bar mbar Pa hPa kPa MPa psi J kJ MJ GJ kcal cal N kN Nm ppm ppb ‰ dB dBm rpm U/min "
    "mph ft in yd lb lbs oz mi gal mol mmol lx lm cd"
).split()
_longest = lambda words: "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))  # noqa: E731
BLANKS = " \u00a0\u202f\u2009"
NUMBER = re.compile(
    rf"(?P<open>\()?[{BLANKS}]*(?P<sign>[-+−])?[{BLANKS}]*(?P<before>{_longest(CURRENCIES)})?[{BLANKS}]*(?P<inner>[-+−])?"
    rf"(?P<body>\d[\d.,'’{BLANKS}]*\d|\d(?:[.,](?![-–—]))?|[.,]\d+)(?P<exponent>[eE][+-]?\d{{1,3}})?(?:[.,](?P<dash>[-–—]+))?"
    rf"[{BLANKS}]*(?P<after>%|{_longest(CURRENCIES)}|{_longest(UNITS)})?(?P<trailing>-)?(?P<close>\))?"
)
# A number and a word that is no unit we know, as in 350k.
LED_BY_NUMBER = re.compile(r"[-+]?\d[\d.,]* ?([^\W\d]{1,12})")
# A text as some programs write it for spreadsheets, so that these do not read it as a number.
FORMULA_TEXT = re.compile(r'="(.*)"')
PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
DIGITS = re.compile(r"\d+")


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
    # A minus behind an amount is a sign; behind plain digits it may as well be what was typed after a code.
    if found["trailing"] and found["body"].isdigit() and not (found["before"] or found["after"]):
        return None
    # A plus sign and groups of digits are a telephone number.
    if found["sign"] == "+" and any(blank in found["body"] for blank in BLANKS):
        return None
    may_be_beyond = found["exponent"] or len(found["body"]) > FLOAT_DIGITS_MAX
    if may_be_beyond and all(number_value(found, *marks) is MISFIT for marks in marks_of(found["body"])):
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
    value = within_bounds(int(body) if body.isdigit() and len(body) <= DIGITS_MAX else float(body))
    return -value if is_negative and value is not MISFIT else value


def within_bounds(number):
    """A number that floating point holds; any other one is as good as unreadable, because all that is made of it is infinite."""
    try:
        return number if math.isfinite(number) else MISFIT
    except OverflowError:
        return MISFIT


class Numbers:
    """What the values of a column are as numbers."""

    def __init__(self, texts, natives):
        misses, allowed = 0, MISFITS * (sum(texts.values()) + sum(natives.values()))
        self.parts, self.fits = {}, collections.Counter()
        self.plain, self.native = 0, sum(natives.values())
        unclear = collections.Counter()
        for text, count in texts.items():
            if PLAIN.fullmatch(text):
                # Almost every number is written so; its marks are a point, or none.
                body = text.lstrip("-")
                if "." in body:
                    whole, _, fraction = body.partition(".")
                    unclear["." + ("3" if len(fraction) == 3 and len(whole) <= 3 and whole != "0" else "")] += count
                else:
                    self.plain += count
                self.parts[text] = None
                continue
            found = number_parts(text)
            if found is None:
                misses += count
                if misses > allowed:
                    break
                continue
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
    if not natives and not mostly(number_parts, texts):
        return None
    numbers = Numbers(texts, natives)
    total = sum(texts.values()) + numbers.native
    if numbers.count(texts) < FIT * total:
        return None
    if not numbers.native and (is_identifier(name, texts) or VERSION_NAMES.search(name) and any("." in text for text in texts)):
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
        found is None and decimal == "." in text or found is not None and has_decimals(found, decimal, thousands)
        for text, found in numbers.parts.items()
    ) or any(not isinstance(value, int) and value % 1 for value in natives if value == value)
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
    bodies = [found["body"] if found else text.lstrip("-") for text, found in numbers.parts.items()]
    marked = [body for body in bodies if "," in body or "." in body]
    return bool(marked) and all(len({decimal for decimal, _ in marks_of(body)}) == 2 for body in marked)


def is_identifier(name, texts):
    """Digits that are no quantity: leading zeros, more digits than a number holds, or a name that says so. A few that are
    written otherwise make no quantity of them."""
    digits = [text for text in texts if text.isdigit() and text.isascii()]
    if sum(texts[text] for text in digits) < FIT * sum(texts.values()):
        return bool(IDENTIFIER_NAMES.search(name)) and all(re.fullmatch(r"\d+[eE]?\d*", text) for text in texts)
    # The names of the days of a month and of months are numbers with a zero in front; so are codes.
    leading = any(len(text) > 1 and text[0] == "0" for text in digits)
    long = any(len(text) > DIGITS_MAX for text in digits)
    # Where amounts are among them, digits are amounts: a fraction is no dirt.
    has_amounts = len(digits) < len(texts) and any(not text.isdigit() and PLAIN.fullmatch(text) for text in texts)
    return (leading or long) and not has_amounts or bool(IDENTIFIER_NAMES.search(name))
