"""Makes the files of this folder that LibreOffice and pandas write; README.md tells how to run it."""

import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

import openpyxl
import pandas

FOLDER = pathlib.Path(__file__).parent
# A country, its language for LibreOffice, and the format of its money.
COUNTRIES = (
    ("german", "de_DE", '#,##0.00 [$€-407]'),
    ("french", "fr_FR", '#,##0.00 [$€-40C]'),
    ("swiss", "de_CH", '[$CHF-807] #,##0.00'),
)
NAMES = ("order", "ordered", "customer", "units", "total", "share")
# Fields with the delimiter in them, zeros in front, letters of several scripts, numbers above a thousand.
ORDERS = (
    ("00017", datetime.date(2024, 3, 4), "Müller & Söhne", 1234, 1234.5, 0.125),
    ("00018", datetime.date(2024, 12, 1), "Café Zoë", 7, 980.05, 0.07),
    ("00019", datetime.date(2024, 1, 31), "O’Neill; Ltd", 12000, 12000, 1),
    ("00020", datetime.date(2024, 2, 3), "Ольга Петрова", 3, 0.99, 0.5),
)
# Fields between semicolons, texts in quotes where they need it, UTF-8, and every cell as it is shown.
CSV = "csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,true"


def workbook(path, money):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "orders"
    sheet.append(NAMES)
    for row, order in enumerate(ORDERS, 2):
        sheet.append(order)
        # Format 14 is the short date of whoever looks at it.
        for column, form in ((2, "mm-dd-yy"), (4, "#,##0"), (5, money), (6, "0.0%")):
            sheet.cell(row, column).number_format = form
    book.save(path)


def saved_by_libreoffice(folder):
    for name, language, money in COUNTRIES:
        source = folder / f"{name}.xlsx"
        workbook(source, money)
        profile = (folder / f"profile_{name}").as_uri()
        for form in (CSV, "ods", "xlsx", "xls"):
            command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", form, "--outdir", FOLDER, source]
            subprocess.run(command, check=True, env=os.environ | {"LC_ALL": f"{language}.UTF-8"}, stdout=subprocess.DEVNULL)


def times_by_libreoffice(folder):
    """Times of the day, lengths of time, and a formula that has an error."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["name", "begins", "length", "twice"])
    for row in range(3):
        sheet.append([f"K{row}", datetime.time(8, 30 + row), datetime.timedelta(hours=13 * row, minutes=30), "=1/0" if row == 1 else f"=2*{row}"])
        sheet.cell(row + 2, 3).number_format = "[h]:mm"
    book.save(folder / "times.xlsx")
    for form in ("ods", "xls"):
        command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", form, "--outdir", FOLDER, folder / "times.xlsx"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def saved_by_pandas():
    frame = pandas.DataFrame(ORDERS, columns=NAMES)
    frame["ordered"] = pandas.to_datetime(frame["ordered"])
    frame.to_csv(FOLDER / "pandas.csv")
    frame.to_csv(FOLDER / "pandas_de.csv", sep=";", decimal=",", date_format="%d.%m.%Y", index=False, encoding="cp1252", errors="replace")
    frame.to_excel(FOLDER / "pandas.xlsx", index=False)
    frame.assign(ordered=frame["ordered"].dt.tz_localize("Europe/Zurich")).to_parquet(FOLDER / "pandas.parquet", index=False)
    frame.to_json(FOLDER / "pandas_split.json", orient="split", date_format="iso")


if __name__ == "__main__":
    if "pandas" not in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            saved_by_libreoffice(pathlib.Path(folder))
            times_by_libreoffice(pathlib.Path(folder))
    saved_by_pandas()
