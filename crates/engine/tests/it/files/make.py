"""Makes real files with the libraries that people use for them, and hostile ones.

Run by the tests with the `full` profile's own interpreter: `make.py FOLDER`. What no library of that profile writes lies
ready in `office/made`, made by real programs.
"""

import base64
import bz2
import configparser
import datetime
import email.message
import gzip
import io
import json
import logging
import lzma
import mailbox
import random
import shutil
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


def good():
    shutil.copytree(Path(__file__).parent / "office" / "made", FOLDER, dirs_exist_ok=True)
    log()
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
    messages()
    documents()
    arrays()
    pictures()
    archives()
    reports()


def log():
    """What Python's own logging writes, with a clock that stands still."""
    handler = logging.FileHandler(FOLDER / "a.log", encoding="utf-8")
    handler.setFormatter(logging.Formatter("2026-01-01 12:00:00,000 %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("shop")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    for number in range(50):
        logger.log(logging.ERROR if number % 5 == 0 else logging.INFO, "line %d", number)
    handler.close()


def documents():
    with pd.ExcelWriter(FOLDER / "a.xlsx", engine="openpyxl") as book:
        TABLE.to_excel(book, sheet_name="orders", index=False)
        pd.DataFrame({"region": REGIONS, "manager": ["Ann", "Bob", "Cy", "Di"]}).to_excel(book, sheet_name="managers", index=False)
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


def messages():
    """Mails and settings as Python's own libraries write them, a calendar and a notebook as their formats want them."""
    mails = mailbox.mbox(FOLDER / "a.mbox")
    for number, sender in enumerate(["ann@example.org", "bob@example.org", "ann@example.org"]):
        mail = email.message.EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = sender, "desk@example.org", f"Order {number}"
        mail["Date"] = f"Mon, {number + 2} Mar 2026 09:00:00 +0000"
        mail.set_content("Hello.")
        mails.add(mail)
        (FOLDER / "a.eml").write_bytes(bytes(mail))
    mails.close()
    event = "BEGIN:VEVENT\r\nSUMMARY:{}\r\nDTSTART:2026030{}T090000Z\r\nLOCATION:Hall\r\nEND:VEVENT\r\n"
    events = "".join(event.format(name, day) for day, name in enumerate(["Fair", "Sale"], 1))
    (FOLDER / "a.ics").write_text(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n", newline="")
    settings = configparser.ConfigParser()
    settings["server"] = {"port": "8080", "host": "localhost"}
    with open(FOLDER / "a.ini", "w") as file:
        settings.write(file)
    cell = {"cell_type": "code", "source": ["print(1)"], "metadata": {}, "outputs": [], "execution_count": 1}
    text = {"cell_type": "markdown", "source": ["# Sales"], "metadata": {}}
    (FOLDER / "a.ipynb").write_text(json.dumps({"cells": [text, cell, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


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
    numbers = np.arange(20.0)
    np.savetxt(FOLDER / "a.dat", np.column_stack([numbers, numbers**2, numbers / 2]), fmt="%g")
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
        archive.write(FOLDER / "a.md", "notes.md")
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


def reports():
    """Files as people and programs leave them: names over several columns, a table for each month, objects in objects."""
    import h5py
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Report"
    for row in (
        ["Sales by region"], [], ["Region", 2023, None, 2024], [None, "Units", "Revenue", "Units", "Revenue"],
        ["North", 10, 100.5, 12, 130], ["South", 5, 50, 7, 75.5], ["East", 3, 30, 1, 10], [], ["Source: the shop's ledger"],
    ):
        sheet.append(row)
    for cells in ("A1:E1", "A3:A4", "B3:C3", "D3:E3"):
        sheet.merge_cells(cells)
    book.save(FOLDER / "merged.xlsx")
    months = {name: TABLE.iloc[start::3] for start, name in enumerate(("January", "February", "March"))}
    with pd.ExcelWriter(FOLDER / "months.xlsx", engine="openpyxl") as book, zipfile.ZipFile(FOLDER / "months.zip", "w") as archive:
        for name, rows in months.items():
            rows.to_excel(book, sheet_name=name, index=False)
            archive.writestr(f"{name}.csv", rows.to_csv(index=False, sep=";", decimal=","))
        archive.write(FOLDER / "a.xlsx", "a.xlsx")
    nested = [{"id": row["order_id"], "customer": {"address": {"region": row["region"]}}, "units": row["units"], "lines": [1]} for row in ROWS]
    (FOLDER / "nested.json").write_text(json.dumps({"page": 1, "data": {"orders": nested}}))
    lines = [{"id": row["order_id"], "lines": [{"sku": "a", "qty": row["units"]}, {"sku": "b", "qty": 1}]} for row in ROWS]
    (FOLDER / "lists.json").write_text(json.dumps(lines))
    features = [{"type": "Feature", "properties": {"region": row["region"], "units": row["units"]}, "geometry": None} for row in ROWS]
    (FOLDER / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    orders = "".join(f'<order id="{row["order_id"]}"><region>{row["region"]}</region><units>{row["units"]}</units></order>' for row in ROWS)
    (FOLDER / "deep.xml").write_text(f"<shop><orders>{orders}</orders></shop>")
    TABLE.pivot_table(index="region", columns="product", values=["unit_price", "units"], aggfunc="sum").to_csv(FOLDER / "pivot.csv")
    with h5py.File(FOLDER / "records.h5", "w") as file:
        rows = [(row["region"].encode(), row["units"]) for row in ROWS]
        file["orders"] = np.array(rows, dtype=[("region", "S8"), ("units", "i4")])
    (FOLDER / "bars.txt").write_text("ID|Name|Amount\n001|Ann|10.50\n002|Bob|7.25\n")
    import matplotlib.pyplot as plt

    for name, region in (("table.pdf", "North"), ("wrapped.pdf", "North\nSea")):
        figure, axes = plt.subplots(figsize=(6, 3))
        axes.axis("off")
        drawn = axes.table([[region, "1,200.50"], ["South", "80.00"]], colLabels=["Region", "Sales"], loc="center")
        drawn.scale(1, 2)
        figure.savefig(FOLDER / name)
        plt.close(figure)


def hostile():
    """Encrypted files, bombs and others that want to do harm."""
    (FOLDER / "binary.csv").write_bytes(bytes(range(256)) * 20)
    entity_bombs()
    (FOLDER / "bomb.yaml").write_text(
        "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{c}: &{c} [{','.join(['*' + chr(ord(c) - 1)] * 9)}]\n" for c in "bcdefghi")
    )
    packed_bombs()
    with zipfile.ZipFile(FOLDER / "escape.zip", "w") as archive:
        archive.writestr("../../etc/passwd", "root")
    with (FOLDER / "columns.csv").open("w") as file:
        file.write(",".join(f"c{n}" for n in range(10_000)) + "\n")
        for _ in range(3):
            file.write(",".join(str(n) for n in range(10_000)) + "\n")
    np.save(FOLDER / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    import py7zr

    with py7zr.SevenZipFile(FOLDER / "locked.7z", "w", password="secret") as archive:
        archive.set_encrypted_header(True)
        archive.writestr("x", "x.txt")
    locked_parquet()
    (FOLDER / "unknown.bin").write_bytes(b"\x00\x01\x02\x03" * 50)


def entity_bombs():
    """Ten entities, each ten times the one before, in XML and in everything that is made of it."""
    declared = (
        '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY a{n} "{("&a" + str(n - 1) + ";") * 10 if n else "&a;" * 10}">' for n in range(9))
        + "]>"
    )
    (FOLDER / "bomb.xml").write_text(f'<?xml version="1.0"?>{declared}<b>&a8;</b>')
    drawing = f'<?xml version="1.0"?>{declared}<svg xmlns="http://www.w3.org/2000/svg"><text>&a8;</text></svg>'
    (FOLDER / "bomb.svg").write_text(drawing)
    parts = {"xlsx": "xl/worksheets/sheet1.xml", "docx": "word/document.xml", "pptx": "ppt/presentation.xml", "ods": "content.xml"}
    for kind, part in parts.items():
        with zipfile.ZipFile(FOLDER / f"a.{kind}") as source, zipfile.ZipFile(FOLDER / f"bomb.{kind}", "w") as target:
            for item in source.infolist():
                content = source.read(item)
                if item.filename == part:
                    # After the declaration of the version, where there is one, before the first element.
                    at = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
                    content = content[:at] + declared.encode() + content[at:]
                target.writestr(item, content)


def packed_bombs():
    """Zeros, which every way of packing makes small."""
    zeros = bytes(8 << 20)
    with zipfile.ZipFile(FOLDER / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", zeros)
    with zipfile.ZipFile(FOLDER / "bomb.xlsm", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", zeros)
    for name, opener in (("bomb.gz", gzip.open), ("bomb.bz2", bz2.open), ("bomb.xz", lzma.open)):
        with opener(FOLDER / name, "wb") as file:
            file.write(zeros)
    with tarfile.open(FOLDER / "bomb.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("zeros")
        member.size = len(zeros)
        archive.addfile(member, io.BytesIO(zeros))
    import py7zr

    with py7zr.SevenZipFile(FOLDER / "bomb.7z", "w") as archive:
        archive.writestr(zeros, "zeros")


def locked_parquet():
    import pyarrow as pa
    import pyarrow.parquet as parquet
    import pyarrow.parquet.encryption as encryption

    class Keys(encryption.KmsClient):
        """Keys that lie in the open: only how the file looks matters here."""

        def __init__(self, _):
            encryption.KmsClient.__init__(self)

        def wrap_key(self, key, _):
            return base64.b64encode(key)

        def unwrap_key(self, key, _):
            return base64.b64decode(key)

    factory = encryption.CryptoFactory(Keys)
    settings = encryption.EncryptionConfiguration(footer_key="footer", column_keys={"column": ["units"]})
    table = pa.Table.from_pandas(TABLE)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    with parquet.ParquetWriter(FOLDER / "locked.parquet", table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)


good()
hostile()
