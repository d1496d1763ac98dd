# --- workbooks and documents -----------------------------------------------------------------------------------------

# Pages of a PDF that are looked at for tables, and lines of a page: a drawing has very many.
PDF_PAGES_MAX = 20
PDF_LINES_MAX = 3000
# Merged cells that are filled; more than a person would make.
MERGED_MAX = 2000
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def refuse_bomb(path):
    """Office documents are ZIP archives: what they expand to is known before they are opened."""
    import zipfile

    if not zipfile.is_zipfile(path):
        raise Problem("it is damaged, or not what its name says: it is no ZIP archive inside")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        refuse_expansion(sum(member.file_size for member in archive.infolist()), os.path.getsize(path))
        for name in names:
            if name.endswith((".xml", ".rels", ".vml")):
                with archive.open(name) as stream:
                    refuse_entities(stream.read(1 << 16))
    return names


def refuse_entities(start):
    """Entities are declared before the first element; office programs never write any."""
    if b"<!ENTITY" in start.replace(b"\0", b""):
        raise entities()


def workbook_facts(path, kind):
    facts = {}
    if kind == "xls":
        if head_of(path, 8) != OLE:
            raise Problem("it is damaged, or not what its name says: it is no workbook of the old format")
    else:
        names = refuse_bomb(path)
        if any(name.endswith("vbaProject.bin") for name in names):
            facts["macros"] = True
            facts["note"] = "it holds macros, which are never run"
        formulas = formula_count(path, names)
        if formulas:
            facts["formulas"] = formulas
        if kind == "ods" and encrypted_ods(path):
            raise encrypted()
    try:
        sheets = list(ordain_reading.sheets(path, kind))
        hidden, merged, hidden_rows, notes = [], {}, {}, []
        if kind in ("xlsx", "xlsm"):
            hidden, merged, hidden_rows, shown = formatted(path, sheets)
        else:
            shown = (formatted_xls if kind == "xls" else formatted_ods)(path, sheets)
    except Exception as error:
        raise workbook_problem(error)
    if DECLARED.get("sheet"):
        sheets = [sheet for sheet in sheets if sheet[0] == DECLARED["sheet"]]
        if not sheets:
            raise Problem(f"it has no sheet {DECLARED['sheet']!r}", "correct `sheet` in ordain.toml")
    elif hidden and len(hidden) < len(sheets):
        sheets = [sheet for sheet in sheets if sheet[0] not in hidden]
        notes.append(f"hidden sheets were left out ({short(', '.join(hidden))}); `sheet` in `[data]` reads one")
    facts["sheets"] = [short(name) for name, _ in sheets[:200]]
    tables = []
    for name, rows in sheets[:TABLES_MAX]:
        if not any(not ordain_reading.is_blank(cell) for row in rows for cell in row):
            tables.append({"name": name, "rows": 0, "columns_total": 0, "columns": []})
            continue
        filled = fill_merged(rows, merged.get(name, ()))
        table = grid_facts(name, rows, len(rows))
        percents, partly = shown.get(name, ((), ()))
        told = [*notes, *partly]
        if hidden_rows.get(name):
            told.append(f"{hidden_rows[name]:,} rows are hidden in the workbook; they are read like the others")
        if filled:
            told.append("merged cells are read as the value that they show, in each of their rows")
        empty = [column["name"] for column in table["columns"] if column["type"] == "empty"]
        if empty and facts.get("formulas"):
            told.append(f"{short(', '.join(empty))}: empty, maybe because results of formulas were not saved; save it in a spreadsheet program")
        table |= ({"merged": filled} if filled else {}) | ({"percents": percents} if percents else {}) | ({"notes": [*told, *table.get("notes", [])]} if told else {})
        tables.append(table)
    facts["tables"] = tables if settings.get("sheets_apart") else together(tables, "sheet", path, kind)  # noqa: F821 - given by the host
    return facts


def formula_count(path, names):
    """Cells that a spreadsheet program would compute, counted in the text of the sheets."""
    import zipfile

    count = 0
    with zipfile.ZipFile(path) as archive:
        for name in names:
            is_sheet = name.startswith("xl/worksheets/") and name.endswith(".xml") or name == "content.xml"
            if not is_sheet:
                continue
            with archive.open(name) as stream:
                rest = b""
                while piece := stream.read(1 << 20):
                    piece = rest + piece
                    count += len(re.findall(rb"<f[ >/]|table:formula=", piece))
                    # What is cut in two is looked at with the next piece, and nothing is counted twice.
                    rest = piece[-15:] if not re.search(rb"<f[ >/]|table:formula=", piece[-15:]) else b""
    return count


def encrypted_ods(path):
    import zipfile

    with zipfile.ZipFile(path) as archive:
        try:
            return b"encryption-data" in archive.read("META-INF/manifest.xml")
        except KeyError:
            return False


# A format's own words: a currency in brackets with its language, texts in quotes, characters that stand for themselves.
FORMAT_WORDS = re.compile(r'\[\$([^\]-]*)[^\]]*\]|"([^"]*)"|\\\\?([€£¥₹$])')
# Formats below this are built in. What they show of money depends on the machine, so they name no currency.
OWN_FORMATS_FROM = 164
# Repeated cells of a row that are told apart.
REPEATED_MAX = 1000


def mark_of_format(code, is_own=True):
    """What the format of a cell shows its number in: percent, or a currency that it names; None where it is neither."""
    code = code.split(";")[0]
    if "%" in re.sub(r'"[^"]*"|\\.|_.|\[[^\]]*\]', "", code):
        return "%"
    words = ("".join(found).strip() for found in FORMAT_WORDS.findall(code) if is_own)
    return next((ordain_reading.CURRENCIES[word] for word in words if word in ordain_reading.CURRENCIES), None)


def formatted(path, sheets):
    """What the formatting of a workbook says: the names of hidden sheets, the merged cells of each sheet, how many of its rows
    are hidden, and what its numbers are shown in."""
    import openpyxl
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    try:
        book = openpyxl.load_workbook(open(path, "rb"), read_only=True, data_only=True)
    except Exception:
        return [], {}, {}, {}
    codes = {**BUILTIN_FORMATS, **dict(enumerate(book._number_formats, OWN_FORMATS_FROM))}
    used = {style.numFmtId for style in book._cell_styles}
    marks = {at: mark for at in used & codes.keys() if (mark := mark_of_format(codes[at], at >= OWN_FORMATS_FROM))}
    shown = {}
    for name, rows in sheets if marks else ():
        cells = book[name].iter_rows(min_row=1, min_col=1)
        of_row = lambda row: {at: marks.get(cell.style_array.numFmtId) for at, cell in enumerate(row) if cell.value is not None}  # noqa: E731
        shown[name] = put_marks(rows, map(of_row, cells))
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    elements = {sheet.title: sheet_elements(book._archive.open(sheet._worksheet_path)) for sheet in book.worksheets}
    return hidden, {name: merged for name, (merged, _) in elements.items()}, {name: rows for name, (_, rows) in elements.items()}, shown


def formatted_xls(path, sheets):
    """What the numbers of a workbook of the old format are shown in."""
    import xlrd

    book = xlrd.open_workbook(path, formatting_info=True, use_mmap=False, logfile=open(os.devnull, "w"))
    codes = {at: book.format_map.get(form.format_key) for at, form in enumerate(book.xf_list)}
    marks = {at: mark_of_format(code.format_str, code.format_key >= OWN_FORMATS_FROM) for at, code in codes.items() if code}
    of_row = lambda row: {at: marks.get(cell.xf_index) for at, cell in enumerate(row)}  # noqa: E731
    return {name: put_marks(rows, map(of_row, book.sheet_by_name(name).get_rows())) for name, rows in sheets}


def formatted_ods(path, sheets):
    """What the numbers of an OpenDocument workbook are shown in: each cell says so."""
    import zipfile
    from xml.parsers import expat

    marked, row = [], {}
    place, repeated = 0, 1

    def start(tag, attributes):
        nonlocal place, row, repeated
        tag = tag.rpartition(":")[2]
        if tag == "table":
            marked.append([])
        elif tag == "table-row":
            place, row = 0, {}
            repeated = min(int(attributes.get("table:number-rows-repeated", 1)), REPEATED_MAX)
        elif tag in ("table-cell", "covered-table-cell"):
            width = int(attributes.get("table:number-columns-repeated", 1))
            kind = attributes.get("office:value-type")
            mark = "%" if kind == "percentage" else attributes.get("office:currency") if kind == "currency" else None
            if mark:
                row |= dict.fromkeys(range(place, place + min(width, REPEATED_MAX)), ordain_reading.CURRENCIES.get(mark, mark))
            place += width

    def end(tag):
        if tag.rpartition(":")[2] == "table-row" and marked:
            marked[-1].extend([row] * repeated)

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as stream:
        parser.ParseFile(stream)
    return {name: put_marks(rows, marks) for (name, rows), marks in zip(sheets, marked)}


def put_marks(rows, marked):
    """Writes numbers as a table of text would have them where the format of their cell says what they are shown in: `EUR 5`,
    `12.5%` for 0.125. Gives the columns of percents, and what to say of columns that are shown in percent here and there."""
    shown, plain = {}, set()
    for row, marks in zip(rows, marked):
        for at, cell in enumerate(row):
            if not isinstance(cell, (int, float)) or isinstance(cell, bool):
                continue
            mark = marks.get(at)
            if mark == "%":
                shown.setdefault(at, []).append(row)
            else:
                plain.add(at)
            if mark and mark != "%":
                row[at] = f"{mark} {digits(cell)}"
    percents = sorted(shown.keys() - plain)
    for at in percents:
        for row in shown[at]:
            row[at] = digits(ordain_reading.in_percent(row[at])) + "%"
    partly = sorted(shown.keys() & plain)
    return percents, [f"{len(shown[at]):,} numbers of column {at + 1} are shown in percent and others are not; all are read as they are stored, as 0.05 for 5 %" for at in partly]


def digits(number):
    """A number as text; three digits behind the point could be thousands there."""
    return repr(number) + ("0" if re.search(r"\.\d{3}$", repr(number)) else "")


def sheet_elements(stream):
    """Cells of one column that were merged over several rows, as (first row, last row, column) from zero, and how many rows
    are hidden."""
    from openpyxl.utils import range_boundaries

    found, hidden, rest = [], 0, b""
    while piece := stream.read(1 << 20):
        piece = rest + piece
        # An element that is cut in two is looked at with the next piece.
        end = piece.rfind(b">") + 1
        piece, rest = piece[:end], piece[end:]
        found += re.findall(rb'<mergeCell ref="([A-Z]+\d+:[A-Z]+\d+)"', piece)
        hidden += len(re.findall(rb'<row [^>]*hidden="(?:1|true)"', piece))
    places = (range_boundaries(place.decode()) for place in found)
    return [(top - 1, bottom - 1, left - 1) for left, top, right, bottom in places if left == right and bottom > top], hidden


def fill_merged(rows, merged):
    """Puts the value of merged cells below the header into each of their rows; gives those that were filled."""
    start = ordain_reading.laid_out(rows, DECLARED.get("header_row"))[0] if merged else 0
    filled = [place for place in merged if start <= place[0] and place[1] < len(rows)][:MERGED_MAX]
    for first, last, column in filled:
        for row in rows[first + 1 : last + 1]:
            row[column : column + 1] = [rows[first][column]]
    return filled


def workbook_problem(error):
    text = short(error, 160)
    if "password" in text.lower() or "encrypt" in text.lower():
        return encrypted()
    return Problem(f"it cannot be read as a workbook: {text}")


def docx_facts(path):
    refuse_bomb(path)
    import docx

    try:
        document = docx.Document(str(path))
    except Exception as error:
        raise Problem(f"it cannot be read as a document: {short(error, 120)}")
    paragraphs = [paragraph.text for paragraph in document.paragraphs]
    headings = [short(p.text) for p in document.paragraphs if p.style is not None and (p.style.name or "").startswith(("Heading", "Title"))]
    facts = {"paragraphs": len(paragraphs), "headings": headings[:20]} | excerpt_facts("\n".join(paragraphs))
    tables = []
    for at, table in enumerate(document.tables[:TABLES_MAX]):
        rows = [[cell.text for cell in row.cells] for row in table.rows[:500]]
        if len(rows) > 1:
            height = len(table.rows)
            tables.append(grid_facts(f"table {at + 1}", rows, height, exact=len(rows) == height) | {"index": at})
    if tables:
        facts["tables"] = tables
    return facts


def doc_facts(path):
    if os.path.getsize(path) > TREE_BYTES_MAX:
        raise too_large(TREE_BYTES_MAX, "a document")
    try:
        text = read_doc(path)
    except ValueError as error:
        if "encrypted" in str(error):
            raise encrypted()
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    except Exception as error:
        raise Problem(f"it is damaged: {type(error).__name__}: {short(error, 120)}")
    if not text.strip():
        raise Problem("no text was found in it")
    return {"paragraphs": sum(1 for line in text.splitlines() if line.strip())} | excerpt_facts(text)


def pptx_facts(path):
    refuse_bomb(path)
    import pptx

    try:
        show = pptx.Presentation(str(path))
    except Exception as error:
        raise Problem(f"it cannot be read as a presentation: {short(error, 120)}")
    titles, texts = [], []
    for slide in show.slides:
        title = slide.shapes.title
        titles.append(short(title.text) if title is not None and title.has_text_frame else None)
        texts.extend(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)
    return {"slides": len(titles), "titles": titles[:50]} | excerpt_facts("\n".join(texts))


def rtf_facts(path):
    if not head_of(path, 5).startswith(b"{\\rtf"):
        raise Problem("it is damaged, or not what its name says: it does not begin as rich text does")
    from striprtf.striprtf import rtf_to_text

    if os.path.getsize(path) > TREE_BYTES_MAX:
        raise too_large(TREE_BYTES_MAX, "rich text")
    with open(path, encoding="latin-1") as file:
        text = file.read()
    # Groups are nested in braces; one with a backslash before it is a sign.
    plain = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if plain.count("{") > plain.count("}"):
        raise Problem("it is damaged: it ends before its groups do")
    return excerpt_facts(rtf_to_text(text, errors="ignore"))


def pdf_facts(path):
    import logging

    logging.disable(logging.CRITICAL)
    if b"%PDF-" not in head_of(path, 1024):
        raise Problem("it is damaged, or not what its name says: it does not begin as a PDF does")
    import pypdf

    started = time.monotonic()
    try:
        reader = pypdf.PdfReader(str(path))
        if reader.is_encrypted and not reader.decrypt(""):
            raise encrypted()
        pages = len(reader.pages)
    except Problem:
        raise
    except Exception as error:
        raise Problem(f"it cannot be read as a PDF: {short(error, 120)}")
    facts = {"pages": pages}
    title = (reader.metadata or {}).get("/Title") if pages else None
    if title:
        facts["title"] = short(title, 120)
    lengths, excerpt = [], ""
    for page in reader.pages:
        if len(lengths) >= 50 or time.monotonic() - started > SECONDS_MAX:
            facts["text_of_pages"] = len(lengths)
            break
        try:
            text = page.extract_text() or ""
        except Exception:
            text = ""
        lengths.append(len(text))
        excerpt = excerpt or text.strip()[:EXCERPT_MAX]
    facts |= {"characters": sum(lengths), "excerpt": excerpt}
    try:
        tables = pdf_tables(path, started) if any(lengths) else []
        facts |= {"tables": tables} if tables else {}
    except Exception as error:
        facts["note"] = f"tables in it could not be looked for: {short(error, 120)}"
    if pages and not any(lengths):
        facts["note"] = "its pages hold no text; they are probably pictures"
    return facts


def pdf_tables(path, started):
    """Tables whose cells are divided by lines, of the first pages."""
    import pdfplumber

    tables = []
    with pdfplumber.open(path) as book:
        for number, page in enumerate(book.pages[:PDF_PAGES_MAX]):
            if time.monotonic() - started > SECONDS_MAX or len(tables) >= TABLES_MAX:
                break
            if len(page.lines) + len(page.rects) > PDF_LINES_MAX:
                continue
            for index, rows in enumerate(page.extract_tables()):
                rows = [ordain_reading.joined_lines(row) for row in rows]
                if len(rows) > 1 and len(rows[0]) > 1:
                    tables.append(grid_facts(f"page {number + 1} table {index + 1}", rows, len(rows)) | {"page": number, "index": index})
    return tables
