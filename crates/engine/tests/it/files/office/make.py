"""Makes the files of `made` with LibreOffice, Pandoc, Info-ZIP and Tomli-W; README.md tells how to run it."""

import datetime
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tomli_w
import uno
from com.sun.star.beans import NamedValue, PropertyValue
from com.sun.star.lang import Locale
from com.sun.star.script import ModuleInfo

FOLDER = Path(__file__).parent / "made"
PASSWORD = "secret"
REGIONS = ["north", "south", "east", "west"]
PRODUCTS = [("aviator", 80.0), ("classic", 60.0), ("wayfarer", 95.5)]
# The same orders as those of `../make.py`.
ORDERS = [
    (
        1000 + at,
        (datetime.date(2026, 1, 1) + datetime.timedelta(days=3 * at)).isoformat(),
        REGIONS[at % 4],
        PRODUCTS[at % 3][0],
        1 + at % 7,
        PRODUCTS[at % 3][1],
    )
    for at in range(48)
]
COLUMNS = ("order_id", "order_date", "region", "product", "units", "unit_price")
SENTENCES = ["Sales grew in the north and fell in the south.", "Café prices rose to 3 €, “as planned”, said Ольга Петрова."]
TEXT = "com.sun.star.text."
MACRO = "Sub Greet()\n    MsgBox \"Hello from the workbook\"\nEnd Sub\n"


def office(profile):
    """Starts LibreOffice and gives its desktop and its process."""
    address = "socket,host=127.0.0.1,port=20026;urp"
    command = ["soffice", "--headless", "--norestore", f"-env:UserInstallation=file://{profile}", f"--accept={address};"]
    process = subprocess.Popen(command)
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(120):
        try:
            context = resolver.resolve(f"uno:{address};StarOffice.ComponentContext")
            return context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context), process
        except Exception:
            time.sleep(0.5)
    sys.exit("LibreOffice did not start")


def properties(**values):
    return tuple(PropertyValue(name, 0, value, 0) for name, value in values.items())


def save(document, name, kind, **options):
    document.storeToURL((FOLDER / name).as_uri(), properties(FilterName=kind, **options))


def lock(document, name, kind):
    """Saves with a password; formats of Microsoft's newer kind want it in another shape."""
    if name.endswith("x"):
        parts = (NamedValue("CryptoType", "Standard"), NamedValue("OOXPassword", PASSWORD))
        save(document, name, kind, EncryptionData=uno.Any("[]com.sun.star.beans.NamedValue", parts))
    else:
        save(document, name, kind, Password=PASSWORD)


def opened(desktop, kind):
    return desktop.loadComponentFromURL(f"private:factory/{kind}", "_blank", 0, properties(Hidden=True))


def report(desktop):
    """A text with a heading, two paragraphs and a table."""
    document = opened(desktop, "swriter")
    document.DocumentProperties.Title = "Quarterly report"
    text = document.Text
    cursor = text.createTextCursor()

    def paragraph(content, style):
        cursor.ParaStyleName = style
        text.insertString(cursor, content, False)
        text.insertControlCharacter(cursor, 0, False)

    paragraph("Quarterly report", "Heading 1")
    for sentence in SENTENCES:
        paragraph(sentence, "Text body")
    table = document.createInstance(TEXT + "TextTable")
    table.initialize(3, 2)
    text.insertTextContent(cursor, table, False)
    for row, cells in enumerate([("region", "sales"), ("north", "120"), ("south", "80")]):
        for column, content in enumerate(cells):
            table.getCellByPosition(column, row).String = content
    save(document, "a.doc", "MS Word 97")
    save(document, "a.rtf", "Rich Text Format")
    save(document, "a.txt", "Text (encoded)", FilterOptions="UTF8,LF")
    save(document, "office.docx", "MS Word 2007 XML")
    save(document, "office.pdf", "writer_pdf_Export")
    lock(document, "locked.doc", "MS Word 97")
    lock(document, "locked.docx", "MS Word 2007 XML")
    locks = uno.Any("[]com.sun.star.beans.PropertyValue", properties(EncryptFile=True, DocumentOpenPassword=PASSWORD))
    save(document, "locked.pdf", "writer_pdf_Export", FilterData=locks)
    document.close(True)
    with_pandoc = ["pandoc", "--standalone", str(FOLDER / "office.docx"), "-o", str(FOLDER / "a.md"), "-t", "markdown"]
    subprocess.run(with_pandoc, check=True)


def workbook(desktop):
    """A workbook of two sheets, whose dates are dates; and the same with a macro."""
    document = opened(desktop, "scalc")
    document.DocumentProperties.Title = "Sales"
    orders = document.Sheets.getByIndex(0)
    orders.Name = "orders"
    document.Sheets.insertNewByName("managers", 1)
    fill(orders, [COLUMNS, *ORDERS])
    dates = orders.getCellRangeByPosition(1, 1, 1, len(ORDERS))
    dates.NumberFormat = document.NumberFormats.queryKey("YYYY-MM-DD", Locale("en", "US", ""), False)
    fill(document.Sheets.getByIndex(1), [("region", "manager"), *zip(REGIONS, ["Ann", "Bob", "Cy", "Di"])])
    save(document, "a.ods", "calc8")
    save(document, "a.html", "HTML (StarCalc)")
    save(document, "office.xlsx", "Calc MS Excel 2007 XML")
    save(document, "a.xls", "MS Excel 97")
    for name, kind in (("locked.ods", "calc8"), ("locked.xlsx", "Calc MS Excel 2007 XML"), ("locked.xls", "MS Excel 97")):
        lock(document, name, kind)
    libraries = document.BasicLibraries
    libraries.VBACompatibilityMode = True
    libraries.ProjectName = "VBAProject"
    project = libraries.createLibrary("VBAProject")
    # A module of a project is exported with what kind it is: 1 is an ordinary one, 4 belongs to a sheet or the book.
    for name, kind, code in (("ThisWorkbook", 4, ""), ("Sheet1", 4, ""), ("Sheet2", 4, ""), ("Greetings", 1, MACRO)):
        info = ModuleInfo()
        info.ModuleType = kind
        project.insertModuleInfo(name, info)
        project.insertByName(name, f"Rem Attribute VBA_ModuleType=VBA{'Module' if kind == 1 else 'DocumentModule'}\nOption VBASupport 1\n{code}")
    save(document, "a.xlsm", "Calc MS Excel 2007 VBA XML")
    document.close(True)


def fill(sheet, rows):
    for row, cells in enumerate(rows):
        for column, content in enumerate(cells):
            cell = sheet.getCellByPosition(column, row)
            # A formula's text is read as if it were typed, so that a date becomes one.
            cell.setFormula(str(content)) if isinstance(content, str) else cell.setValue(content)


def slides(desktop):
    """A presentation of two slides with titles."""
    document = opened(desktop, "simpress")
    pages = document.DrawPages
    pages.insertNewByIndex(0)
    for at, title in enumerate(("Results", "Outlook")):
        page = pages.getByIndex(at)
        page.Layout = 1
        page.getByIndex(0).String = title
        page.getByIndex(1).String = "Sales grew"
    save(document, "office.pptx", "Impress MS PowerPoint 2007 XML")
    lock(document, "locked.pptx", "Impress MS PowerPoint 2007 XML")
    document.close(True)


def others():
    shop = {"title": "shop", "orders": [dict(zip(COLUMNS, order)) for order in ORDERS[:5]]}
    (FOLDER / "a.toml").write_bytes(tomli_w.dumps(shop).encode())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "orders.csv").write_text("region,units\nnorth,1\n")
        target = FOLDER / "locked.zip"
        target.unlink(missing_ok=True)
        subprocess.run(["zip", "-q", "-X", "-P", PASSWORD, str(target), "orders.csv"], cwd=folder, check=True)


def main():
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        desktop, process = office(profile)
        try:
            report(desktop)
            workbook(desktop)
            slides(desktop)
        finally:
            try:
                desktop.terminate()
            except Exception:
                process.terminate()
            process.wait()
    others()


main()
