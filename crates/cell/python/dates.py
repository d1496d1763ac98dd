# --- dates, durations, truth: part of the module that `reading.py` begins ----------------------------------------------

TIME = r"(?:(?:[T ]|, ?)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?[ ]?(?P<half>[AaPp]\.?[Mm]\.?)?[ ]?(?P<zone>Z|(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|[+-]\d{2}:?\d{2})?)?"
WEEKDAYS_BY_NUMBER = [set(names.split()) for names in (
    "mon monday mo montag lun lundi", "tue tues tuesday di dienstag mar mardi", "wed wednesday mi mittwoch mer mercredi",
    "thu thur thurs thursday do donnerstag jeu jeudi", "fri friday fr freitag ven vendredi",
    "sat saturday sa samstag sonnabend sam samedi", "sun sunday so sonntag dim dimanche",
)]
WEEKDAY = rf"(?i:(?:{_longest(set().union(*WEEKDAYS_BY_NUMBER))})\.?,? )?"
ISO = re.compile(WEEKDAY + r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + TIME)
SHORT = re.compile(WEEKDAY + r"(?P<first>\d{1,2})(?P<mark>[-/.])[ ]?(?P<second_part>\d{1,2})(?P=mark)[ ]?(?P<year>\d{4}|\d{2})" + TIME)
NAMED = re.compile(WEEKDAY + r"(?P<day>\d{1,2})(?:\.|st|nd|rd|th)?[- ]?(?P<name>[^\W\d]{3,10})\.?,?[- ](?P<year>\d{4}|\d{2})" + TIME)
NAMED_FIRST = re.compile(WEEKDAY + r"(?P<name>[^\W\d]{3,10})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})" + TIME)
COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})")
MONTHS = {}
for _number, _names in enumerate((
    "january jan januar jän jänner janvier janv", "february feb februar février fév fevrier févr", "march mar märz mär mrz mars maerz",
    "april apr avril avr", "may mai", "june jun juni juin", "july jul juli juillet juil", "august aug août aout",
    "september sep sept septembre", "october oct oktober okt octobre", "november nov novembre",
    "december dec dezember dez décembre déc decembre",
), 1):
    MONTHS |= dict.fromkeys(_names.split(), _number)
CLOCK = re.compile(r"(?P<sign>-)?(?:(?P<days>\d+) days?,? )?(?P<hour>\d{1,4})[:hH](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,6}))?)?")
SPELLED = re.compile(r"(?i)(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d+) ?h(?:ours?|rs?)?,? ?)?(?:(\d+) ?m(?:in(?:utes?|s)?)?,? ?)?(?:(\d+(?:\.\d+)?) ?s(?:ec(?:onds?|s)?)?)?")
ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


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
        return datetime.datetime(year, month, day, hour, minute, second, fraction) - offset(parts.get("zone") or "")
    except (ValueError, OverflowError):
        return None


def has_its_weekday(text, found, order):
    """Whether the text begins with the day of the week that its date is."""
    word = re.match(r"[^\W\d]+", text)
    when = moment(found, order) if word else None
    return when is not None and word[0].lower() in WEEKDAYS_BY_NUMBER[when.weekday()]


def offset(zone):
    """How far a zone such as `+02:00` or `GMT+1` is ahead of UTC."""
    found = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", zone)
    if not found:
        return datetime.timedelta()
    ahead = datetime.timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return ahead if found[1] == "+" else -ahead


def decide_dates(name, texts, natives, table):
    may_be_compact = bool(DATE_NAMES.search(name))
    if not natives and not mostly(lambda text: date_parts(text, may_be_compact), texts):
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
        named = {order: sum(texts[text] for text, found in short if has_its_weekday(text, found, order)) for order in orders}
        if named["day-first"] != named["month-first"]:
            # A day of the week is right in one order alone.
            orders = named
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
            open_days = ((text, when) for text, found in short if found["first"] != found["second_part"] and (when := moment(found, order)))
            if shown := next(open_days, None):
                shown, when = shown
                said = when.date().isoformat()
                reading["unclear"] = True
                notes.append(f"day and month could be exchanged in every value; {shown} is read {order}, as {said}")
        reading["order"] = order
    zones = {bool(found.groupdict().get("zone")) for found in parts.values()}
    # With a zone it is the clock of UTC that counts.
    clocks = (value.astimezone(datetime.timezone.utc) if value.tzinfo else value for value in natives if isinstance(value, datetime.datetime))
    has_time = any(found.groupdict().get("hour") for found in parts.values()) or any(
        value.hour or value.minute or value.second for value in clocks
    )
    if True in zones or any(getattr(value, "tzinfo", None) is not None for value in natives):
        reading["zone"] = "UTC"
        if False in zones:
            notes.append("some of its points in time name no zone; they are taken as UTC")
    if any(COMPACT.fullmatch(text) for text in parts):
        notes.append("runs of eight digits are read as year, month and day")
    if any(len(found["year"]) == 2 for found in parts.values()):
        notes.append("years of two digits are read as 1970 to 2069")
    return {"type": "timestamp" if has_time else "date"} | reading | {"notes": notes}


def span(text):
    """A duration, or None."""
    try:
        return length_of(text)
    except OverflowError:
        return None


def length_of(text):
    found = CLOCK.fullmatch(text)
    if found:
        hours, minutes, seconds = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
        value = datetime.timedelta(days=int(found["days"] or 0), hours=hours, minutes=minutes, seconds=seconds, microseconds=int(((found["fraction"] or "") + "000000")[:6]))
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
    if clock and not DURATION_NAMES.search(name) and not any(found["days"] or int(found["hour"]) > 23 for found in map(CLOCK.fullmatch, clock)):
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
