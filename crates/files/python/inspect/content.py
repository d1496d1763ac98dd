# --- what a file is, whatever its name says ---------------------------------------------------------------------------

SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"II*\0", "tif"),
    (b"MM\0*", "tif"),
    (b"PAR1", "parquet"),
    (b"PARE", "encrypted"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "feather"),
    (b"SQLite format 3\0", "sqlite"),
    (b"\x89HDF\r\n", "h5"),
    (b"CDF\x01", "nc"),
    (b"CDF\x02", "nc"),
    (b"CDF\x05", "nc"),
    (b"\x93NUMPY", "npy"),
    (b"7z\xbc\xaf", "7z"),
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ", "xz"),
    (b"{\\rtf", "rtf"),
)
TEXTS = ("txt", "md", "log", "csv", "tsv", "json", "jsonl", "ndjson", "xml", "yaml", "yml", "toml", "html", "htm", "svg", "eml", "mbox", "ics", "ini", "cfg")
PICTURES = ("png", "jpg", "gif", "bmp", "tif", "webp")
# The endings that a content may have; one that is not listed has its own name and no other.
ENDINGS = {
    **dict.fromkeys(PICTURES, (*PICTURES, "jpeg", "tiff")),
    "h5": ("h5", "hdf5", "nc"),
    "arrow": ("arrow", "feather"),
    "feather": ("arrow", "feather"),
    "sqlite": ("sqlite", "sqlite3", "db"),
    "zip": ("zip", "xlsx", "xlsm", "ods", "docx", "pptx", "npz"),
    **{kind: (kind, "zip") for kind in ("ods", "docx", "pptx", "npz")},
    "xlsx": ("xlsx", "xlsm", "zip"),
    "gz": ("gz", "tgz"),
    "text": TEXTS,
    # A table of TOML begins as a list of JSON does; its reader tells them apart.
    "json": ("json", "geojson", "ipynb", "ini", "cfg", "jsonl", "ndjson", "yaml", "yml", "toml", "txt", "md", "log"),
    "html": ("html", "htm", "xml", "txt", "md", "log"),
    "svg": ("svg", "xml", "html", "htm", "txt", "md", "log"),
    "xml": ("xml", "svg", "html", "htm", "txt", "md", "log"),
}
# Members that tell one kind of ZIP archive from another.
ZIPPED = (("xl/workbook.xml", "xlsx"), ("word/document.xml", "docx"), ("ppt/presentation.xml", "pptx"))
# Streams that tell one kind of compound file from another, as their names stand in it.
COMPOUND = (("EncryptedPackage", "encrypted"), ("WordDocument", "doc"), ("Workbook", "xls"), ("Book", "xls"))


def content_of(path):
    """What kind of file it is by its content, or nothing where that is not clear."""
    start = head_of(path, 1 << 16)
    for signature, kind in SIGNATURES:
        if start.startswith(signature):
            return kind
    if start.startswith(b"BM") and start[6:10] == bytes(4):
        return "bmp"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "webp"
    if start[257:262] == b"ustar":
        return "tar"
    if start.startswith(b"PK\x03\x04"):
        return zipped_content(path)
    if start.startswith(OLE):
        return compound_content(path)
    return text_content(start)


def zipped_content(path):
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            for name, kind in ZIPPED:
                if name in names:
                    return kind
            if names and all(name.endswith(".npy") for name in names):
                return "npz"
            if "mimetype" in names and b"opendocument.spreadsheet" in archive.read("mimetype")[:200]:
                return "ods"
    except Exception:
        # What is cut off has no list of members; the reader of its ending says so.
        pass
    return "zip"


def compound_content(path):
    import mmap

    # Mapped, which takes no memory. To read up to a limit takes memory for the whole limit at once, however short the file.
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return next((kind for name, kind in COMPOUND if data.find(name.encode("utf-16-le") + b"\0\0") >= 0), None)


def text_content(start):
    """The kind of a text by how it begins; nothing where it is no text."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = start[: len(start) // 2 * 2].decode("utf-16", "replace")
    elif re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", start):
        return None
    else:
        text = start.decode("utf-8-sig", "replace")
    text = text.lstrip()[:4096].lower()
    if text.startswith("<"):
        if re.search(r"<svg[\s>]", text):
            return "svg"
        return "html" if re.match(r"<!doctype html|<html[\s>]", text) else "xml"
    if re.match(r"\{\s*[\"}]|\[\s*([\"{\[\]\d-]|true|false|null)", text):
        return "json"
    return "text"


def refuse_other_content(path, ending):
    """The kind of content, where it may have this ending."""
    kind = content_of(path)
    if kind == "encrypted":
        raise encrypted()
    if kind is None or ending in ENDINGS.get(kind, (kind,)):
        return kind
    told = "plain text" if kind == "text" else kind
    wanted = "txt" if kind == "text" else kind
    raise Problem(f"its name says {ending}, but its content is {told}", f"rename it to end in .{wanted}, or give the {ending} file that was meant")
