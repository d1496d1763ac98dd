# --- trees: objects within objects as records, part of the module that `reading.py` begins --------------------------------

# How numbers are written that floating point may not hold.
BEYOND_FLOAT = re.compile(rf"[eE]\+?0*[1-9]\d\d|\d{{{FLOAT_DIGITS_MAX}}}|Infinity")


def tree_of(path, kind, keys):
    text = bytes_of(path).decode("utf-8-sig")
    if kind in ("yaml", "yml"):
        import yaml

        tree = yaml.safe_load(text)
    elif kind == "toml":
        import tomllib

        tree = tomllib.loads(text)
    elif kind in ("ini", "cfg"):
        import configparser

        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        tree = {name: dict(parser[name]) for name in parser.sections()}
    else:
        tree = json_of(text)
    for key in keys:
        tree = tree[key]
    return tree


def json_of(text, **hooks):
    """A value as it is written in JSON. A number that floating point does not hold stays a text, so that it is told as it
    stands in the file."""
    if BEYOND_FLOAT.search(text):
        as_written = lambda read: lambda part: part if within_bounds(read(part)) is MISFIT else read(part)  # noqa: E731
        whole = lambda part: math.inf if len(part) > FLOAT_DIGITS_MAX else int(part)  # noqa: E731
        hooks |= {"parse_float": as_written(float), "parse_int": as_written(whole)}
        hooks["parse_constant"] = lambda part: math.nan if part == "NaN" else part
    return json.loads(text, **hooks)


def objects(rows, names=None):
    """Records as a frame of the very values that they hold: pandas would make gaps of whole numbers not-a-number."""
    import pandas as pd

    names = list(dict.fromkeys(name for row in rows for name in row)) if names is None else names
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype="object") for name in names}, columns=names)


def is_records(tree):
    """Whether a tree is a list of objects, or objects by their keys."""
    items = tree.values() if isinstance(tree, dict) else tree
    return bool(items) and all(isinstance(item, dict) for item in items)


def records_of(tree):
    """The objects of a list, or those of an object with their keys in front; objects within them become fields."""
    if isinstance(tree, dict):
        return [{"key": key} | flat(item) for key, item in tree.items()]
    return [flat(item) for item in tree]


def inner_tables(records):
    """Lists of objects within records as tables of their own, by their columns. Each row says which record holds it: by
    a field that no two records have alike, one that is called an id before others, else by the record's place."""
    names = list(dict.fromkeys(name for record in records for name in record))
    keys = [name for name in names if is_key([record.get(name) for record in records])]
    key = next((name for name in keys if KEY_NAMES.search(name)), keys[0] if keys else None)
    found = {}
    for name in names:
        filled = [item for record in records if (item := record.get(name)) not in (None, [])]
        if filled and all(isinstance(item, list) and all(isinstance(part, dict) for part in item) for item in filled):
            holders = ((record[key] if key else place, record.get(name) or []) for place, record in enumerate(records, 1))
            found[name] = [{f"parent.{key or 'row'}": holder} | flat(part) for holder, parts in holders for part in parts]
    return found


def is_key(values):
    return all(isinstance(value, (str, int)) for value in values) and len(set(values)) == len(values)


def flat(record, depth=0):
    """An object without objects inside: `{"a": {"b": 1}}` is `{"a.b": 1}`. Lists stay what they are; one without anything in
    it is no value, as is an object without any."""
    if not any(isinstance(value, dict) or value == [] for value in record.values()):
        return record
    found = {}
    for name, value in record.items():
        if isinstance(value, dict) and value and depth < FLAT_DEPTH_MAX:
            for inner, part in flat(value, depth + 1).items():
                found.setdefault(f"{name}.{inner}", part)
        else:
            found[name] = None if isinstance(value, (dict, list)) and not value else value
    return found


def json_lines(path):
    rows = []
    # A text within a line may hold marks that `splitlines` takes for the end of one.
    for number, line in enumerate(bytes_of(path).decode("utf-8-sig").split("\n"), 1):
        if line.strip():
            rows.append(json_line(line, number))
    return rows


def json_line(line, number):
    try:
        return json_of(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"line {number} is not JSON: {error}; correct the line") from None
