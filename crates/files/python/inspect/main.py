# --- what each ending means ------------------------------------------------------------------------------------------

READERS = {
    "txt": lambda path: text_facts(path) | text_table(path),
    **dict.fromkeys(("md", "log"), text_facts),
    **{kind: (lambda path, kind=kind: text_facts(path) | message_facts(path, kind)) for kind in ordain_reading.MESSAGE_KINDS},
    **dict.fromkeys(("ini", "cfg"), lambda path: text_facts(path) | ini_facts(path)),
    "rtf": rtf_facts,
    "csv": csv_facts,
    "tsv": lambda path: csv_facts(path, "\t"),
    "json": json_facts,
    **dict.fromkeys(("geojson", "ipynb"), lambda path: json_facts(path) | {"format": "json"}),
    **dict.fromkeys(("jsonl", "ndjson"), jsonl_facts),
    "xml": xml_facts,
    **dict.fromkeys(("yaml", "yml"), yaml_facts),
    "toml": toml_facts,
    **dict.fromkeys(("html", "htm"), html_facts),
    **{kind: (lambda path, kind=kind: workbook_facts(path, kind)) for kind in ("xlsx", "xlsm", "xls", "ods")},
    "docx": docx_facts,
    "doc": doc_facts,
    "pptx": pptx_facts,
    "pdf": pdf_facts,
    **dict.fromkeys(("h5", "hdf5"), hdf5_facts),
    "nc": netcdf_facts,
    "parquet": parquet_facts,
    **dict.fromkeys(("feather", "arrow"), feather_facts),
    "npy": npy_facts,
    "npz": npz_facts,
    **dict.fromkeys(("sqlite", "db", "sqlite3"), sqlite_facts),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp"), image_facts),
    "svg": svg_facts,
    "zip": zip_facts,
    "tar": tar_facts,
    **{kind: (lambda path, kind=kind: compressed_facts(path, kind)) for kind in ("gz", "bz2", "xz")},
    "tgz": lambda path: compressed_facts(path, "gz"),
    "7z": seven_facts,
}

def data_facts(path):
    """A `.dat` or unknown file: a table, a text, or bytes."""
    start = head_of(path, 1 << 16)
    kind = content_of(path)
    if kind == "encrypted":
        raise encrypted()
    if kind in READERS and kind not in TEXTS:
        return READERS[kind](path) | {"format": kind, "note": f"its content is {kind}"}
    try:
        encoding = encoding_of(path)
    except Problem:
        return {"note": "an unknown kind of file; it is there as bytes", "begins_with": start[:16].hex()}
    lines = start.decode(encoding, "replace").splitlines()[:20]
    spaced = [len(line.split()) for line in lines if line.strip() and not line.startswith("#")]
    delimiter = even_delimiter(lines, ordain_reading.DELIMITERS)
    if delimiter:
        return csv_facts(path, delimiter) | {"format": "csv"}
    if len(spaced) > 2 and len(set(spaced)) == 1 and spaced[0] > 1:
        return columns_of_numbers(path, encoding)
    return text_facts(path) | {"format": "txt"}


def columns_of_numbers(path, encoding):
    """Columns that are set apart by blanks, as instruments write them."""
    rows, remarks = [], 0
    with open(path, encoding=encoding, errors="replace") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                rows.append(line.split())
            elif not rows:
                remarks += 1
    table = grid_facts(None, rows, len(rows))
    return {"format": "columns", "encoding": encoding, "delimiter": " ", "tables": [table | {"skip": table["skip"] + remarks}]}


def facts_of(name, path):
    if os.path.getsize(path) == 0:
        return {"problem": "it is empty: it has no bytes at all; make or fetch it again"}
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    reader = READERS.get(ending, data_facts)
    try:
        if reader is data_facts:
            return data_facts(path)
        kind = refuse_other_content(path, ending)
        facts = reader(path)
        for table in facts.get("tables", ()):
            table.pop("looked", None)
        tell_unknown(facts)
        if kind in PICTURES and kind != ending.replace("jpeg", "jpg").replace("tiff", "tif"):
            facts["note"] = f"its name says {ending}, but its content is {kind}; it was read as that"
        return facts
    except Problem as problem:
        return {"problem": str(problem).replace(str(path), name)}
    except MemoryError:
        raise
    except ImportError as error:
        return {"problem": f"its reader is not in this Python profile: {short(error, 100)}"}
    except RecursionError:
        return {"problem": "it is nested too deeply"}
    except Exception as error:
        return {"problem": f"it cannot be read: {type(error).__name__}: {short(error, 160)}"}


def tell_unknown(facts):
    """Says which declared columns a file with one table does not have."""
    tables = facts.get("tables", ())
    if len(tables) == 1:
        said = ordain_reading.undeclared((column["name"] for column in tables[0]["columns"]), DECLARED.get("columns"))
        tables[0]["notes"] = [*said, *tables[0].get("notes", [])]


def plain_facts(facts):
    """Facts as data that a frame can carry, whatever a reader put into them. Where there are too many columns for everything,
    what only describes them is left out first."""
    try:
        for left_out in ((), ("samples", "min", "max"), ("notes",), ("values",)):
            for column in columns_in(facts) if left_out else ():
                for key in left_out:
                    column.pop(key, None)
            text = json.dumps(facts, default=str, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
            if len(text) <= FACTS_BYTES_MAX:
                break
        return json.loads(text)
    except (ValueError, TypeError) as error:
        return {"problem": f"what was found in it cannot be told: {short(error, 100)}"}


def columns_in(facts):
    """The columns of all tables of a file, those that were joined included."""
    tables = facts.get("tables", ())
    return [column for table in tables for one in (table, *table.get("parts", ())) for column in one["columns"]]
