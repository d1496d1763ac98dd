"""Makes one real file of each kind with the library that people use for it, and their damaged relatives.

Run by the tests with the `full` profile's own interpreter: `make.py FOLDER`.
"""

import bz2
import datetime
import gzip
import io
import json
import lzma
import random
import sqlite3
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(sys.argv[1])
random.seed(7)

REGIONS = ["north", "south", "east", "west"]
ROWS = [
    {
        "order_id": 1000 + at,
        "order_date": (datetime.date(2026, 1, 1) + datetime.timedelta(days=3 * at)).isoformat(),
        "region": REGIONS[at % 4],
        "product": ["aviator", "classic", "wayfarer"][at % 3],
        "units": 1 + at % 7,
        "unit_price": [80.0, 60.0, 95.5][at % 3],
    }
    for at in range(48)
]
TABLE = pd.DataFrame(ROWS)
TEXT = "the quick brown fox jumps over the lazy dog. the dog sleeps.\nthe end\n"


def good():
    (FOLDER / "a.txt").write_text(TEXT)
    (FOLDER / "a.md").write_text("# Report\n\n" + TEXT)
    (FOLDER / "a.log").write_text("".join(f"2026-01-0{1 + n % 9} {'ERROR' if n % 5 == 0 else 'INFO'} line {n}\n" for n in range(50)))
    (FOLDER / "a.rtf").write_text(r"{\rtf1\ansi\deff0 {\fonttbl {\f0 Times;}}\f0 Hello \b rich\b0  text.\par Second line.}")
    TABLE.to_csv(FOLDER / "a.csv", index=False)
    TABLE.to_csv(FOLDER / "latin.csv", index=False, sep=";", encoding="latin-1")
    (FOLDER / "latin.csv").write_bytes((FOLDER / "latin.csv").read_bytes().replace(b"north", "nörd".encode("latin-1")))
    TABLE.to_csv(FOLDER / "wide.csv", index=False, encoding="utf-16")
    TABLE.to_csv(FOLDER / "a.tsv", index=False, sep="\t")
    (FOLDER / "a.json").write_text(json.dumps({"source": "shop", "orders": ROWS}))
    TABLE.to_json(FOLDER / "a.jsonl", orient="records", lines=True)
    TABLE.to_xml(FOLDER / "a.xml", index=False, row_name="order", root_name="orders")
    import yaml

    (FOLDER / "a.yaml").write_text(yaml.safe_dump({"shop": {"name": "Ordain", "open": True}, "orders": ROWS[:5]}))
    (FOLDER / "a.yml").write_text(yaml.safe_dump([1, 2, 3]))
    (FOLDER / "a.toml").write_text('title = "shop"\n[[orders]]\nunits = 3\nregion = "north"\n[[orders]]\nunits = 4\nregion = "south"\n')
    (FOLDER / "a.html").write_text("<html><head><title>Sales</title></head><body><h1>All</h1>" + TABLE.to_html(index=False) + "</body></html>")
    office()
    arrays()
    pictures()
    archives()


def office():
    with pd.ExcelWriter(FOLDER / "a.xlsx", engine="openpyxl") as book:
        TABLE.to_excel(book, sheet_name="orders", index=False)
        pd.DataFrame({"region": REGIONS, "manager": ["Ann", "Bob", "Cy", "Di"]}).to_excel(book, sheet_name="managers", index=False)
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("orders")
    for at, name in enumerate(TABLE.columns):
        sheet.write(0, at, name)
        for row, value in enumerate(TABLE[name], start=1):
            sheet.write(row, at, value.item() if hasattr(value, "item") else value)
    book.save(str(FOLDER / "a.xls"))
    macro_workbook()
    open_document()
    import docx

    document = docx.Document()
    document.add_heading("Quarterly report", 1)
    document.add_paragraph("Sales grew in the north and fell in the south.")
    table = document.add_table(rows=3, cols=2)
    for at, cells in enumerate([("region", "sales"), ("north", "120"), ("south", "80")]):
        for cell, text in zip(table.rows[at].cells, cells):
            cell.text = text
    document.save(str(FOLDER / "a.docx"))
    import pptx

    show = pptx.Presentation()
    for title in ("Results", "Outlook"):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "Sales grew"
    show.save(str(FOLDER / "a.pptx"))
    pdf(FOLDER / "a.pdf", ["Invoice 17\nsum due 420 EUR", "Second page about sales"])
    pdf(FOLDER / "long.pdf", [f"page {n}" for n in range(1000)])


def macro_workbook():
    """A workbook with a macro project: a real workbook with the part and its declaration added."""
    data = (FOLDER / "a.xlsx").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(FOLDER / "a.xlsm", "w") as target:
        for item in source.infolist():
            content = source.read(item)
            if item.filename == "[Content_Types].xml":
                content = content.replace(b"sheet.main+xml", b"sheet.main+xml").replace(
                    b"</Types>", b'<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/></Types>'
                )
            target.writestr(item, content)
        target.writestr("xl/vbaProject.bin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512))


def open_document():
    """An OpenDocument spreadsheet as the standard lays it out."""
    cells = lambda row: "".join(  # noqa: E731
        f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
        if isinstance(value, (int, float))
        else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        for value in row
    )
    rows = [list(TABLE.columns), *TABLE.values.tolist()]
    body = "".join(f"<table:table-row>{cells(row)}</table:table-row>" for row in rows)
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text"))
    content = f'<?xml version="1.0"?><office:document-content {spaces} office:version="1.2"><office:body><office:spreadsheet><table:table table:name="orders">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f'<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    with zipfile.ZipFile(FOLDER / "a.ods", "w") as archive:
        archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)


def pdf(path, pages):
    import matplotlib

    matplotlib.use("Agg")
    if len(pages) < 10:
        import matplotlib.pyplot as plt
        from matplotlib.backends.backend_pdf import PdfPages

        with PdfPages(path) as book:
            for text in pages:
                figure = plt.figure(figsize=(4, 3))
                figure.text(0.1, 0.5, text)
                book.savefig(figure)
                plt.close(figure)
        return
    import pypdf

    writer = pypdf.PdfWriter()
    for _ in pages:
        writer.add_blank_page(200, 200)
    writer.write(str(path))


def arrays():
    (FOLDER / "a.dat").write_text("".join(f"{n} {n * n} {n / 2}\n" for n in range(20)))
    TABLE.to_parquet(FOLDER / "a.parquet")
    TABLE.to_feather(FOLDER / "a.feather")
    import pyarrow as pa

    table = pa.Table.from_pandas(TABLE)
    with pa.OSFile(str(FOLDER / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    np.save(FOLDER / "a.npy", np.arange(12.0).reshape(3, 4))
    np.savez(FOLDER / "a.npz", first=np.arange(5), second=np.ones((2, 2)))
    import h5py

    for name in ("a.h5", "a.hdf5"):
        with h5py.File(FOLDER / name, "w") as file:
            file.attrs["station"] = "harbour"
            readings = file.create_dataset("readings/temperature", data=np.linspace(10, 20, 24))
            readings.attrs["unit"] = "celsius"
    import netCDF4

    with netCDF4.Dataset(str(FOLDER / "a.nc"), "w") as data:
        data.createDimension("time", 6)
        variable = data.createVariable("temperature", "f8", ("time",))
        variable.units = "celsius"
        variable[:] = np.arange(6.0)
        data.title = "a small grid"
    with sqlite3.connect(FOLDER / "a.sqlite") as database:
        TABLE.to_sql("orders", database, index=False)


def pictures():
    from PIL import Image

    image = Image.new("RGB", (64, 48), (200, 30, 30))
    for name in ("png", "jpg", "jpeg", "gif", "bmp", "tiff", "webp"):
        image.save(FOLDER / f"a.{name}")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot([1, 2, 3])
    figure.savefig(FOLDER / "a.svg")
    plt.close(figure)


def archives():
    with zipfile.ZipFile(FOLDER / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(FOLDER / "a.csv", "data/orders.csv")
        archive.write(FOLDER / "a.txt", "notes.txt")
    with tarfile.open(FOLDER / "a.tar", "w") as archive:
        archive.add(FOLDER / "a.csv", "orders.csv")
    with tarfile.open(FOLDER / "b.tar.gz", "w:gz") as archive:
        archive.add(FOLDER / "a.csv", "orders.csv")
    content = (FOLDER / "a.csv").read_bytes()
    for name, opener in (("orders.csv.gz", gzip.open), ("orders.csv.bz2", bz2.open), ("orders.csv.xz", lzma.open)):
        with opener(FOLDER / name, "wb") as file:
            file.write(content)
    import py7zr

    with py7zr.SevenZipFile(FOLDER / "a.7z", "w") as archive:
        archive.write(FOLDER / "a.csv", "orders.csv")


def bad():
    """Truncated, mislabelled, encrypted and empty files, and bombs."""
    kinds = "xlsx xls ods docx pptx pdf h5 nc parquet feather npy npz sqlite png jpg gif bmp tiff webp zip tar 7z".split()
    for kind in kinds:
        data = (FOLDER / f"a.{kind}").read_bytes()
        (FOLDER / f"cut.{kind}").write_bytes(data[: max(20, len(data) // 3)])
        (FOLDER / f"empty.{kind}").write_bytes(b"")
    for kind in "csv tsv json jsonl xml yaml toml html txt rtf doc gz bz2 xz svg".split():
        (FOLDER / f"empty.{kind}").write_bytes(b"")
    (FOLDER / "cut.json").write_text('{"orders": [{"units": 1}, {"un')
    (FOLDER / "cut.xml").write_text("<orders><order><units>1</units>")
    (FOLDER / "cut.csv.gz").write_bytes((FOLDER / "orders.csv.gz").read_bytes()[:100])
    (FOLDER / "label.xlsx").write_bytes((FOLDER / "a.pdf").read_bytes())
    (FOLDER / "label.pdf").write_bytes((FOLDER / "a.png").read_bytes())
    (FOLDER / "label.parquet").write_text("not a parquet file at all")
    (FOLDER / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (FOLDER / "bomb.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY a{n} "{("&a" + str(n - 1) + ";") * 10 if n else "&a;" * 10}">' for n in range(9))
        + "]><b>&a8;</b>"
    )
    (FOLDER / "bomb.yaml").write_text(
        "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{c}: &{c} [{','.join(['*' + chr(ord(c) - 1)] * 9)}]\n" for c in "bcdefghi")
    )
    with zipfile.ZipFile(FOLDER / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(64 << 20))
    with gzip.open(FOLDER / "bomb.gz", "wb") as file:
        file.write(bytes(64 << 20))
    with zipfile.ZipFile(FOLDER / "escape.zip", "w") as archive:
        archive.writestr("../../etc/passwd", "root")
    with (FOLDER / "columns.csv").open("w") as file:
        file.write(",".join(f"c{n}" for n in range(10_000)) + "\n")
        for _ in range(3):
            file.write(",".join(str(n) for n in range(10_000)) + "\n")
    np.save(FOLDER / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    import pypdf

    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret")
    writer.write(str(FOLDER / "locked.pdf"))
    import py7zr

    with py7zr.SevenZipFile(FOLDER / "locked.7z", "w", password="secret") as archive:
        archive.set_encrypted_header(True)
        archive.writestr("x", "x.txt")
    (FOLDER / "unknown.bin").write_bytes(b"\x00\x01\x02\x03" * 50)


good()
bad()
