"""Makes the files of this example, the same ones every time: `python make.py`, with the packages of the `full` profile.

The numbers are invented. They are uneven on purpose: missing values, an odd date, a customer with a comma.
"""

import datetime
import json
import random
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.backends.backend_pdf import PdfPages
from PIL import Image, ImageDraw

FOLDER = Path(__file__).parent / "files"
random.seed(2026)

REGIONS = ["North", "South", "East", "West"]
PRICES = {"Aviator": 80.0, "Classic": 60.0, "Wayfarer": 95.5, "Moon": 120.0}
CUSTOMERS = ["Ada", "Bela", "Chidi", "Dana", "Eze, Ltd", "Farid"]


def sales():
    rows = []
    for at in range(240):
        day = datetime.date(2026, 1, 1) + datetime.timedelta(days=random.randrange(181))
        product = random.choice(list(PRICES))
        rows.append(
            {
                "order_id": 5000 + at,
                "order_date": day.isoformat(),
                "region": random.choice(REGIONS),
                "product": product,
                "customer": random.choice(CUSTOMERS),
                "units": random.randint(1, 15),
                "unit_price": PRICES[product],
                "discount": random.choice([0.0, 0.0, 0.0, 0.05, 0.1, None]),
            }
        )
    return pd.DataFrame(rows).sort_values("order_date", kind="stable")


def main():
    FOLDER.mkdir(exist_ok=True)
    table = sales()
    table.to_csv(FOLDER / "sales.csv", index=False)
    managers = pd.DataFrame({"region": REGIONS, "manager": ["Nora", "Said", "Erik", "Wanda"]})
    products = pd.DataFrame({"product": list(PRICES), "category": ["metal", "acetate", "acetate", "metal"]})
    with pd.ExcelWriter(FOLDER / "sales.xlsx", engine="openpyxl") as book:
        table.to_excel(book, sheet_name="orders", index=False)
        managers.to_excel(book, sheet_name="managers", index=False)
        products.to_excel(book, sheet_name="products", index=False)
    targets = {"year": 2026, "targets": [{"region": name, "target": 35000 + 2500 * at} for at, name in enumerate(REGIONS)]}
    (FOLDER / "targets.json").write_text(json.dumps(targets, indent=2) + "\n", encoding="utf-8")
    reasons = ["broken", "wrong colour", "too late", "other"]
    returned = table.sample(37, random_state=7)[["order_id", "product"]].assign(
        reason=[random.choice(reasons) for _ in range(37)], refund=[round(random.uniform(20, 200), 2) for _ in range(37)]
    )
    returned.to_parquet(FOLDER / "returns.parquet", index=False)
    pages = ["Half-year report 2026", "The first half of the year\nwas better than the one before.", "Outlook: more of the same."]
    with PdfPages(FOLDER / "report.pdf", metadata={"CreationDate": None, "Title": "Half-year report"}) as book:
        for text in pages:
            figure = plt.figure(figsize=(5, 3))
            figure.text(0.1, 0.5, text)
            book.savefig(figure)
            plt.close(figure)
    logo = Image.new("RGB", (320, 120), (250, 240, 220))
    ImageDraw.Draw(logo).ellipse((20, 20, 100, 100), fill=(40, 40, 60))
    logo.save(FOLDER / "logo.png")
    (FOLDER / "notes.md").write_text(
        "# Notes\n\nSales were strong. Sales in the north were strongest.\nThe moon frame is new, and the moon frame sells.\nReturns fell; returns for broken frames fell most.\n",
        encoding="utf-8",
    )


main()
