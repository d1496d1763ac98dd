# --- tables as text, and trees ---------------------------------------------------------------------------------------

# The end of a long text in which remarks and a total below the table are looked for.
TAIL_BYTES = 1 << 13


def csv_facts(path, delimiter=None):
    import csv

    csv.field_size_limit(1 << 24)
    encoding = DECLARED.get("encoding") or encoding_of(path)
    if problem := ordain_reading.unknown_encoding(encoding):
        raise Problem(*problem)
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        start = file.read(1 << 16)
    if not start.strip():
        raise Problem("it holds no rows")
    # What is declared holds, as it does for checks.
    unseen = ordain_reading.unseen_delimiter(DECLARED.get("delimiter"), start)
    delimiter = DECLARED.get("delimiter") or delimiter
    if delimiter is None or delimiter not in start and not unseen:
        delimiter = ordain_reading.delimiter_of(start, len(start) >= 1 << 16)
    rows, is_whole = read_rows(path, encoding, delimiter)
    if not any(rows):
        raise Problem("it holds no rows")
    if not is_whole:
        return {"encoding": encoding, "delimiter": delimiter, "tables": [long_text_facts(path, encoding, delimiter, rows)]}
    table = grid_facts(None, rows, len(rows))
    body = [row for row in rows[table["skip"] :] if row]
    notes = [*unseen, *uneven(body[: table["rows"]], len(table["columns"])), *table.get("notes", [])]
    if notes:
        table["notes"] = notes
    return {"encoding": encoding, "delimiter": delimiter, "tables": [table]}


def even_delimiter(lines, delimiters):
    """The mark that cuts all lines into equally many parts, more than one; None where there is none."""
    lines = [line for line in lines if line.strip()]
    for delimiter in delimiters:
        counts = {line.count(delimiter) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts.pop() > 0:
            return delimiter
    return None


def text_table(path):
    """The table that a plain text is, where tabs, semicolons or bars cut all of its lines alike, or as R writes it:
    blanks between the fields, and the rows named before their first field: all names in quotes, or rows that are numbered."""
    import csv

    with open(path, encoding=encoding_of(path), errors="replace") as file:
        lines = [line for line, _ in zip(file, range(50))]
    delimiter = even_delimiter(lines, "\t;|")
    if not delimiter and len(lines) > 1 and all(line.startswith('"') for line in lines):
        header, *rows = csv.reader(lines, delimiter=" ")
        delimiter = " " if {len(row) for row in rows} == {len(header) + 1} else None
    if not delimiter and len(lines) > 2:
        header, *rows = (line.rstrip("\n").split(" ") for line in lines)
        is_numbered = [row[0] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
        delimiter = " " if is_numbered and {len(row) for row in rows} == {len(header) + 1} else None
    return csv_facts(path, delimiter) if delimiter else {}


def read_rows(path, encoding, delimiter):
    """The rows, empty ones included, and whether these are all; of a long text only the first."""
    import csv

    kept, cells = [], 0
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        try:
            for row in csv.reader(file, delimiter=delimiter):
                if not row and len(kept) > ordain_reading.HEAD_ROWS:
                    continue
                if cells > CELLS_MAX:
                    return kept, False
                cells += len(row)
                kept.append(row)
        except csv.Error as error:
            if not kept:
                raise Problem(f"it is not a table of text: {error}")
            return kept, False
    return kept, True


def long_text_facts(path, encoding, delimiter, rows):
    """Facts of a long text, of which these are the first rows."""
    start, names, units, notes = ordain_reading.laid_out(rows, DECLARED.get("header_row"))
    layout = {"encoding": encoding, "delimiter": delimiter, "skip": start}
    pieces = lambda columns=None: ordain_reading.text_pieces(path, layout, names, columns)  # noqa: E731
    try:
        facts = long_facts(pieces, start + 1, units, last_rows(path, encoding, delimiter), len(names))
    except ordain_reading.Unreadable as error:
        raise Problem(*str(error).rsplit("; ", 1))
    mark_doubled(facts["columns"], notes)
    notes += [*facts.get("notes", []), *filter(None, [ordain_reading.second_table(rows[start:], start + 1)])]
    return facts | {"skip": start} | header_row(rows, start) | ({"notes": [short(note, 240) for note in notes[:8]]} if notes else {})


def last_rows(path, encoding, delimiter):
    """The last rows of a text: where bytes are characters of their own, without reading what is before them."""
    import collections
    import csv

    with open(path, encoding=encoding, errors="replace", newline="") as file:
        if encoding.startswith(("utf-16", "utf-32")):
            return collections.deque(csv.reader(file, delimiter=delimiter), ordain_reading.HEAD_ROWS)
        file.buffer.seek(max(0, os.path.getsize(path) - TAIL_BYTES))
        return list(csv.reader(file, delimiter=delimiter))[1:]


def uneven(body, width):
    """What to say of rows with more or fewer fields than there are names."""
    rows = [at for at, row in enumerate(body) if row and len(row) != width]
    if not rows or width >= COLUMNS_MAX:
        return []
    return [f"{len(rows):,} rows have more or fewer fields than the header's {width}"]


def json_facts(path):
    if os.path.getsize(path) > TREE_BYTES_MAX:
        raise too_large(TREE_BYTES_MAX, "one JSON document")
    encoding = encoding_of(path)
    with open(path, encoding=encoding if encoding != "utf-8" else "utf-8-sig") as file:
        text = file.read()
    if not text.strip():
        raise Problem("it is empty")
    repeated = []
    try:
        value = ordain_reading.json_of(text, object_pairs_hook=lambda pairs: noted(pairs, repeated))
    except (ValueError, RecursionError) as error:
        facts = jsonl_facts(path, is_asked=False)
        if facts:
            return facts | {"format": "jsonl", "note": "it holds one JSON value on each line"}
        raise Problem(f"it is not JSON: {short(error, 120)}")
    facts = {"encoding": encoding} | tree_facts(value)
    for table in facts.get("tables", ())[:1] if repeated else ():
        table["notes"] = [f"{short(repeated[0])!r} stands twice in an object; its last value counts", *table.get("notes", [])]
    return facts


def noted(pairs, repeated):
    """An object from its names and values; a name that stands twice is noted."""
    found = dict(pairs)
    if len(found) < len(pairs) and not repeated:
        names = [name for name, _ in pairs]
        repeated.append(next(name for name in names if names.count(name) > 1))
    return found


def tree_facts(value):
    """What a tree of objects and lists holds: its shape, and the lists of objects in it as tables."""
    facts = {"shape": shape_of(value, 0)}
    tables, settings = [], []
    find_tables(value, [], tables, settings)
    if settings:
        facts["settings"] = settings[:SETTINGS_MAX]
    if tables:
        facts["tables"] = tables[:TABLES_MAX]
    elif isinstance(value, dict):
        facts["keys"] = [short(key) for key in list(value)[:COLUMNS_MAX]]
    return facts


def shape_of(value, depth):
    if isinstance(value, dict):
        if depth > 2:
            return "object"
        names = list(value)[:12]
        inner = ", ".join(f"{short(name, 30)}: {shape_of(value[name], depth + 1)}" for name in names)
        return "{" + inner + (", …" if len(value) > len(names) else "") + "}"
    if isinstance(value, list):
        return f"list of {len(value)}" + (f" × {shape_of(value[0], depth + 1)}" if value and depth < 2 else "")
    return "null" if value is None else kind_of(value)


def find_tables(value, path, tables, settings):
    """Puts the lists of objects among the tables, and where single values are among the settings."""
    if len(tables) >= TABLES_MAX or len(path) > 3:
        return
    if isinstance(value, list) and ordain_reading.is_records(value):
        records = ordain_reading.records_of(value)
        table = records_facts(".".join(path) or None, records) | {"path": path}
        tables += with_inner_tables(table, records)
    elif isinstance(value, list) and len(value) > 1 and all(isinstance(item, list) for item in value[:1000]):
        width = max(map(len, value[:1000]))
        columns = [[row[at] if at < len(row) else None for row in value] for at in range(min(width, COLUMNS_MAX))]
        names = list(range(width))
        tables.append(table_facts(".".join(path) or None, names, len(value), columns) | {"path": path})
    elif isinstance(value, dict):
        names, rows = value.get("columns"), value.get("data")
        if isinstance(names, list) and isinstance(rows, list) and rows and all(isinstance(row, list) and len(row) == len(names) for row in rows):
            # As pandas writes a frame in parts.
            table = table_facts(".".join(path) or None, names, len(rows), [list(column) for column in zip(*rows)])
            tables.append(table | {"path": path, "split": True})
            return
        if set(value) == {"schema", "data"} and isinstance(value["schema"], dict) and "pandas_version" in value["schema"]:
            find_tables(value["data"], [*path, "data"], tables, settings)
            return
        if is_by_place(value):
            # As pandas writes a frame by its columns.
            table = table_facts(".".join(path) or None, list(value), len(next(iter(value.values()))), [list(column.values()) for column in value.values()])
            tables.append(table | {"path": path, "by_place": True})
            return
        if len(value) > 1 and ordain_reading.is_records(value) and are_alike(list(value.values())):
            tables.append(records_facts(".".join(path) or None, ordain_reading.records_of(value)) | {"path": path})
            return
        lists = [item for item in value.values() if isinstance(item, list)]
        is_columns = len(lists) == len(value) > 1 and len({len(item) for item in lists}) == 1
        if is_columns and not any(isinstance(part, (dict, list)) for item in lists for part in item[:100]):
            table = table_facts(".".join(path) or None, list(value), len(lists[0]), lists)
            tables.append(table | {"path": path, "by_column": True})
            return
        for name, item in list(value.items())[:200]:
            parts = item if isinstance(item, list) else [item]
            if isinstance(name, str) and not any(isinstance(part, (dict, list)) for part in parts):
                settings.append({"path": [*path, name], "type": "list" if isinstance(item, list) else kind_of(item)})
            find_tables(item, [*path, str(name)], tables, settings)


def with_inner_tables(table, records):
    """A table of objects, and the lists of objects within them as tables of their own."""
    name = table["name"] + "." if table["name"] else ""
    inner = ordain_reading.inner_tables(records) if len(records) == table["rows"] else {}
    lists = [column["name"] for column in table["columns"] if column["type"] == "json" and column["name"] not in inner]
    if lists:
        table["notes"] = [*table.get("notes", []), f"lists within its rows stay lists: {short(', '.join(lists), 120)}"]
    at = {"path": table["path"]} if "path" in table else {}
    return [table, *(records_facts(name + column, rows) | at | {"inner_list": column} for column, rows in inner.items())]


def is_by_place(value):
    """Whether an object holds columns, each with its values by their places from zero."""
    columns = list(value.values())
    places = [str(place) for place in range(len(columns[0]))] if columns and isinstance(columns[0], dict) else []
    return bool(places) and all(isinstance(column, dict) and list(column) == places for column in columns)


def are_alike(objects):
    """Whether objects have the same fields, as the rows of a table do."""
    common = set.intersection(*map(set, objects[:1000]))
    # Sections of settings have fields of one name too; theirs hold nothing but further objects and lists.
    return bool(common) and 2 * len(common) >= max(map(len, objects[:1000])) and any(not isinstance(objects[0][name], (dict, list)) for name in common)


def jsonl_facts(path, is_asked=True):
    encoding = encoding_of(path)
    records, cells, bad = [], 0, 0
    with open(path, encoding=encoding if encoding != "utf-8" else "utf-8-sig", errors="replace") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                records.append(ordain_reading.json_of(line))
                cells += len(records[-1]) if isinstance(records[-1], dict) else 1
            except (ValueError, RecursionError):
                bad += 1
                if bad > 3 and not records:
                    break
            # An object takes several times the memory of a row of text.
            if cells > CELLS_MAX // 4 and not bad:
                records.clear()
                return {"encoding": encoding, "tables": [long_lines_facts(path)]}
    count = len(records) + bad
    records = ordain_reading.records_of([record for record in records if isinstance(record, dict)])
    if not records or (not is_asked and (bad or count < 2)):
        if is_asked:
            raise Problem("its lines are not JSON objects" if count else "it is empty")
        return None
    facts = {"encoding": encoding, "tables": with_inner_tables(records_facts(None, records, rows=count), records)}
    if bad:
        facts["note"] = f"{bad} of its {count} lines are not JSON"
    return facts


def long_lines_facts(path):
    try:
        return long_facts(lambda columns=None: ordain_reading.line_pieces(path, columns))
    except ordain_reading.Unreadable as error:
        raise Problem(*str(error).rsplit("; ", 1))


def yaml_facts(path):
    import yaml

    if os.path.getsize(path) > 2 << 20:
        return text_facts(path) | {"note": "larger than the 2 MiB that are read as YAML; told as text"}
    with open(path, encoding=encoding_of(path)) as file:
        text = file.read()
    if not text.strip():
        raise Problem("it is empty")
    # An alias of an alias of an alias can stand for more than memory holds.
    if len(re.findall(r"(?m)(?<![\w&*])\*[\w-]+", text)) > 1000 or expands_too_far(text):
        raise Problem("its aliases would expand without end", "write them out")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        documents = list(yaml.load_all(text, Loader=loader))
    except yaml.YAMLError as error:
        raise Problem(f"it is not YAML: {short(error, 160)}")
    value = documents[0] if len(documents) == 1 else documents
    if isinstance(value, str) and "\n" in text.strip():
        raise Problem("it is not YAML: it is one text without any key or list", "give it the ending of what it is")
    return tree_facts(value) | ({"documents": len(documents)} if len(documents) > 1 else {})


def expands_too_far(text):
    """Anchors whose lists are made of aliases, several levels deep."""
    levels = re.findall(r"&[\w-]+\s*[\[{][^\]}]*\*[\w-]+[^\]}]*\*[\w-]+", text)
    return len(levels) > 5


def toml_facts(path):
    try:
        import tomllib
    except ImportError:
        return text_facts(path) | {"note": "this Python has no TOML reader; told as text"}
    with open(path, "rb") as file:
        try:
            return tree_facts(tomllib.load(file))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Problem(f"it is not TOML: {short(error, 160)}")


def ini_facts(path):
    """Sections with settings; a file without sections is told as text."""
    import configparser

    try:
        return tree_facts(ordain_reading.tree_of(path, "ini", []))
    except (configparser.Error, UnicodeDecodeError):
        return {}


def message_facts(path, kind):
    """Messages or events as a table."""
    if os.path.getsize(path) > TREE_BYTES_MAX:
        raise too_large(TREE_BYTES_MAX, "mail or a calendar")
    name, records = ordain_reading.MESSAGE_KINDS[kind], ordain_reading.message_records(path, kind)
    return {"tables": [records_facts(name, records)]} if records else {"note": f"no {name} were found in it"}


def entities():
    return Problem("it declares entities, which can expand without end", "save it without them")


def xml_facts(path, level=1):
    """One pass without building a tree. Entities are refused where they are declared, before they can expand. Records are
    looked for `level` levels below the root, and further down where there is one element alone."""
    from xml.parsers import expat

    counts, stack, root = {}, [], []
    records, record, field = [], None, []
    attributes_of_root = {}

    def start(tag, attributes):
        nonlocal record, field
        stack.append(tag)
        if len(stack) > 500:
            raise Problem("its elements are nested deeper than 500 levels", "give it in a flatter form")
        if len(stack) == 1:
            root.append(tag)
            attributes_of_root.update(list(attributes.items())[:20])
        if len(stack) == level + 1:
            counts[tag] = counts.get(tag, 0) + 1
            record = dict(attributes)
        field = []

    def end(tag):
        nonlocal record
        if len(stack) == level + 2 and record is not None:
            text = "".join(field).strip()
            record.setdefault(tag, text or None)
        if len(stack) == level + 1 and record is not None:
            if record or field:
                records.append((tag, record))
            record = None
        stack.pop()

    def data(text):
        if len(stack) == level + 2 and len(field) < 1000:
            field.append(text)

    def entity(*_):
        raise entities()

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.EntityDeclHandler = entity
    parser.buffer_text = True
    try:
        with open(path, "rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise Problem(f"it is not well-formed XML: {error}")
    facts = {"root": short(root[0]) if root else None, "children": dict(sorted(counts.items(), key=lambda item: -item[1])[:20])}
    if attributes_of_root:
        facts["attributes"] = {short(name): short(value) for name, value in attributes_of_root.items()}
    common = max(counts, key=counts.get) if counts else None
    if common and counts[common] > 1:
        rows = [record for tag, record in records if tag == common]
        facts["tables"] = [records_facts(common, rows, rows=counts[common]) | ({"depth": level} if level > 1 else {})]
    elif sum(counts.values()) == 1 and level < 3:
        facts |= {key: value for key, value in xml_facts(path, level + 1).items() if key == "tables"}
    return facts


def html_facts(path):
    from html.parser import HTMLParser

    if os.path.getsize(path) > TREE_BYTES_MAX:
        raise too_large(TREE_BYTES_MAX, "a page")
    encoding = encoding_of(path)
    with open(path, encoding=encoding, errors="replace") as file:
        text = file.read()
    if not text.strip():
        raise Problem("it is empty")
    found = {"title": [], "headings": [], "links": 0, "text": [], "scripts": 0}
    stack = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            stack.append(tag)
            found["links"] += tag == "a"
            found["scripts"] += tag == "script"

        def handle_endtag(self, tag):
            if tag in stack:
                del stack[len(stack) - 1 - stack[::-1].index(tag) :]

        def handle_data(self, data):
            if not data.strip() or "script" in stack or "style" in stack:
                return
            if "title" in stack:
                found["title"].append(data)
            elif any(tag in stack for tag in ("h1", "h2", "h3")) and len(found["headings"]) < 20:
                found["headings"].append(short(data))
            found["text"].append(data)

    Reader(convert_charrefs=True).feed(text)
    if not stack and not re.search(r"<[a-zA-Z!]", text):
        raise Problem("it is not HTML: it holds no elements", "give it the ending of what it is")
    facts = {"encoding": encoding, "title": short("".join(found["title"]), 120), "headings": found["headings"]}
    facts |= {"links": found["links"], "scripts": found["scripts"]}
    facts |= excerpt_facts(" ".join(part.strip() for part in found["text"]))
    told = []
    for at, rows in enumerate(ordain_reading.html_tables(text)[:TABLES_MAX]):
        rows = [row for row in rows if row]
        if len(rows) > 1:
            told.append(grid_facts(f"table {at + 1}", rows, len(rows)) | {"index": at})
    if told:
        facts["tables"] = told
    if "<html" in text.lower() and "</html" not in text.lower():
        facts["note"] = "it ends before its last element does; it may have been cut off"
    return facts
