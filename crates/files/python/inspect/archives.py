# --- pictures and archives -------------------------------------------------------------------------------------------


def image_facts(path):
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = 120_000_000
    try:
        with Image.open(path) as image:
            facts = {"width": image.width, "height": image.height, "mode": image.mode, "encoded_as": image.format}
            frames = getattr(image, "n_frames", 1)
            if frames > 1:
                facts["frames"] = frames
            if image.info.get("dpi"):
                facts["dpi"] = [round(float(value), 1) for value in image.info["dpi"]]
            if image.width * image.height <= 25_000_000:
                image.load()
                small = image.convert("RGB").resize((32, 32))
                pixels = list(small.getdata())
                facts["mean_colour"] = [round(sum(pixel[at] for pixel in pixels) / len(pixels)) for at in range(3)]
    except Image.DecompressionBombError:
        raise Problem("it has more pixels than are read", "give a smaller picture")
    except Exception as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    return facts


def svg_facts(path):
    facts = xml_facts(path)
    if not (facts.get("root") or "").endswith("svg"):
        raise Problem("it is XML, but no drawing", "rename it to end in .xml")
    with open(path, "rb") as file:
        text = file.read(1 << 20).lower()
    if b"<script" in text or b"javascript:" in text or re.search(rb"\son\w+\s*=", text):
        facts["note"] = "it holds active content; do not open it in a browser beside anything trusted"
    facts.pop("tables", None)
    return facts


# Members that hold tables, whether or not they are read within an archive.
TABLE_KINDS = ("csv", "tsv", "json", "jsonl", "ndjson", "xlsx", "xlsm", "xls", "ods", "parquet", "feather", "arrow", "sqlite", "db", "xml", "h5")


def member(name, size, packed=None):
    facts = {"name": short(name, 120), "bytes": size}
    if name.startswith("/") or ".." in name.replace("\\", "/").split("/"):
        facts["note"] = "its name leads out of the folder; do not extract it"
    return facts


def archive_result(members, expanded, total, packed_size):
    """Facts of an archive; what would expand without end is told and not opened."""
    facts = {"members_total": total, "expanded_bytes": expanded, "members": members[:MEMBERS_MAX]}
    refuse_expansion(expanded, packed_size)
    return facts


def refuse_expansion(expanded, packed):
    if expanded > EXPANDED_BYTES_MAX or (packed and expanded > 1 << 20 and expanded / packed > RATIO_MAX):
        what = f"it expands from {packed} to {expanded} bytes, is taken for a bomb and not opened"
        raise Problem(what, "unpack it where you trust it and give what is needed")


def zip_facts(path):
    import zipfile

    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Problem(f"it is damaged, or no ZIP archive: {short(error, 120)}")
    with archive:
        # What macOS keeps beside the files is none of them.
        infos = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
        expanded = sum(info.file_size for info in infos)
        facts = archive_result([member(info.filename, info.file_size) for info in infos[:MEMBERS_MAX]], expanded, len(infos), os.path.getsize(path))
        if infos and all(info.flag_bits & 1 for info in infos):
            raise Problem("it is encrypted", "unpack it with its password and give what is inside")
        if any(info.flag_bits & 1 for info in infos):
            facts["note"] = "some members are encrypted and cannot be read"
            return facts
        tables = []
        for info in infos[:MEMBERS_MAX]:
            if inner_reader(info.filename) and info.file_size <= 32 << 20 and len(tables) < TABLES_MAX:
                with archive.open(info) as stream:
                    tables += inner_tables(info.filename, stream, info.file_size)
    return facts | archived(tables, [info.filename for info in infos], path, "zip")


def tar_facts(path):
    import tarfile

    members, expanded, total, tables = [], 0, 0, []
    try:
        with tarfile.open(path) as archive:
            for info in archive:
                if not info.isfile():
                    if info.issym() or info.islnk():
                        members.append({"name": short(info.name), "note": "a link; it is not followed"})
                    continue
                total += 1
                expanded += info.size
                if expanded > EXPANDED_BYTES_MAX or total > 100_000:
                    break
                members.append(member(info.name, info.size))
                if inner_reader(info.name) and info.size <= 32 << 20 and len(tables) < TABLES_MAX:
                    tables += inner_tables(info.name, archive.extractfile(info), info.size)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise Problem(f"it is damaged, or no TAR archive: {short(error, 120)}")
    facts = archive_result(members, expanded, total, os.path.getsize(path))
    return facts | archived(tables, [entry["name"] for entry in members], path, "tar")


def archived(tables, names, path, kind):
    """The tables of an archive, and which of its members may hold tables that were not looked into."""
    read = {table["member"] for table in tables}
    left = [name for name in names if name not in read and name.rsplit(".", 1)[-1].lower() in TABLE_KINDS]
    facts = {"tables": together(tables, "file", path, kind)} if tables else {}
    if left:
        facts["note"] = f"not looked into: {short(', '.join(left), 160)}; unpack the archive and give them"
    return facts


def seven_facts(path):
    import py7zr

    try:
        with py7zr.SevenZipFile(path) as archive:
            if archive.needs_password():
                raise encrypted()
            infos = [info for info in archive.list() if not info.is_directory]
    except Problem:
        raise
    except Exception as error:
        # The method with this number encrypts; an archive whose list is encrypted fails on it before it asks.
        if "assword" in str(error) or "\\x06\\xf1\\x07\\x01" in str(error):
            raise encrypted()
        raise Problem(f"it is damaged, or no 7z archive: {short(error, 120)}")
    expanded = sum(info.uncompressed for info in infos)
    return archive_result([member(info.filename, info.uncompressed) for info in infos[:MEMBERS_MAX]], expanded, len(infos), os.path.getsize(path))


def compressed_facts(path, kind):
    """A single compressed file, or a TAR archive within one."""
    import bz2
    import gzip
    import lzma

    opener = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[kind]
    inner = os.path.basename(str(path)).rsplit(".", 1)[0]
    expanded, start = 0, b""
    stop_at = time.monotonic() + SECONDS_MAX
    try:
        with opener(path, "rb") as stream:
            while piece := stream.read(1 << 20):
                start = start or piece[:1024]
                expanded += len(piece)
                if expanded > EXPANDED_BYTES_MAX or time.monotonic() > stop_at:
                    break
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise Problem(f"it is damaged, or not what its name says: {short(error, 120)}")
    if start[257:262] == b"ustar" or inner.endswith(".tar") or kind == "gz" and str(path).endswith(".tgz"):
        archive_result([], expanded, 1, os.path.getsize(path))
        return tar_facts(path) | {"compressed": kind}
    facts = archive_result([member(inner, expanded)], expanded, 1, os.path.getsize(path))
    if inner_reader(inner) and expanded <= 64 << 20:
        with opener(path, "rb") as stream:
            tables = inner_tables(inner, stream, expanded)
        if tables:
            facts["tables"] = [table | {"name": None, "member": None, "packed": kind} for table in tables]
    return facts


def inner_reader(name):
    """The reader of a member that holds a table."""
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return {"csv": csv_facts, "tsv": csv_facts, "json": json_facts, "jsonl": jsonl_facts}.get(ending)


def inner_tables(name, stream, size):
    """The tables of a member, looked at in a copy of its own."""
    copy = os.path.join(tempfile.gettempdir(), "member")
    try:
        with open(copy, "wb") as file:
            while piece := stream.read(1 << 20):
                file.write(piece)
                if file.tell() > size + (1 << 20):
                    return []
        found = inner_reader(name)(copy)
        keep = {key: found[key] for key in ("encoding", "delimiter") if key in found}
        keep["inner"] = found.get("format") or name.rsplit(".", 1)[-1].lower()
        tables = [table | {"name": short(name, 120), "member": name} | keep for table in found.get("tables", [])]
        # The values of many large members are more than memory holds.
        for table in tables:
            if table["rows"] * table["columns_total"] * TABLES_MAX > CELLS_MAX:
                table.pop("looked", None)
        return tables
    except Exception:
        return []
    finally:
        if os.path.exists(copy):
            os.unlink(copy)
