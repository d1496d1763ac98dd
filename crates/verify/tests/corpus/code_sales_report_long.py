"""Cleans a sales file, builds the monthly report, and writes a workbook with a chart."""
import json
import re
from datetime import datetime
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

REQUIRED = ["order_date", "region", "product", "units", "unit_price"]
ALIASES = {
    "date": "order_date",
    "orderdate": "order_date",
    "area": "region",
    "item": "product",
    "qty": "units",
    "quantity": "units",
    "price": "unit_price",
}


def normalise(name):
    """`Order Date` and `orderDate` become `order_date`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name).strip())
    name = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_").lower()
    return ALIASES.get(name.replace("_", ""), ALIASES.get(name, name))


def read_any(path):
    """Reads a file by its suffix."""
    suffix = Path(path).suffix.lower()
    if suffix in (".xlsx", ".xls", ".xlsm"):
        return pd.read_excel(path)
    if suffix in (".json", ".jsonl"):
        return pd.read_json(path, lines=suffix == ".jsonl")
    if suffix == ".parquet":
        return pd.read_parquet(path)
    separator = "\t" if suffix == ".tsv" else None
    return pd.read_csv(path, sep=separator, engine="python")


def clean(raw):
    """Types every column and drops what cannot be read."""
    table = raw.rename(columns={column: normalise(column) for column in raw.columns})
    missing = [column for column in REQUIRED if column not in table.columns]
    if missing:
        raise ValueError(f"missing columns: {', '.join(missing)}")
    table = table[REQUIRED].copy()
    table["order_date"] = pd.to_datetime(table["order_date"], errors="coerce")
    for column in ("units", "unit_price"):
        as_text = table[column].astype(str).str.replace(r"[^0-9.\-]", "", regex=True)
        table[column] = pd.to_numeric(as_text, errors="coerce")
    for column in ("region", "product"):
        table[column] = table[column].astype(str).str.strip().str.title()
    before = len(table)
    table = table.dropna(subset=["order_date", "units", "unit_price"])
    table = table[(table["units"] > 0) & (table["unit_price"] >= 0)]
    table["revenue"] = table["units"] * table["unit_price"]
    table["month"] = table["order_date"].dt.to_period("M").astype(str)
    return table.reset_index(drop=True), before - len(table)


def monthly(table):
    """Revenue by month and region, with totals and growth."""
    report = table.pivot_table(index="month", columns="region", values="revenue", aggfunc="sum", fill_value=0.0)
    report["Total"] = report.sum(axis=1)
    report["Growth %"] = (report["Total"].pct_change() * 100).round(1)
    return report.round(2)


def top_products(table, count=5):
    grouped = table.groupby("product", as_index=False).agg(units=("units", "sum"), revenue=("revenue", "sum"))
    grouped["share"] = (grouped["revenue"] / grouped["revenue"].sum() * 100).round(1)
    return grouped.sort_values("revenue", ascending=False).head(count)


def outliers(table):
    """Orders whose revenue lies far outside their product's usual range."""
    parts = []
    for product, group in table.groupby("product"):
        low, high = np.percentile(group["revenue"], [25, 75])
        width = high - low
        odd = group[(group["revenue"] < low - 3 * width) | (group["revenue"] > high + 3 * width)]
        if not odd.empty:
            parts.append(odd.assign(product=product))
    return pd.concat(parts) if parts else table.iloc[0:0]


def draw(report, path):
    figure, axes = plt.subplots(figsize=(9, 4.5))
    report.drop(columns=["Total", "Growth %"]).plot(kind="bar", stacked=True, ax=axes)
    axes.set_ylabel("Revenue")
    axes.set_xlabel("")
    axes.legend(loc="upper left", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write_book(path, sheets):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for title, table in sheets.items():
            table.to_excel(writer, sheet_name=title[:31])


def main():
    global answer_text, STATUS
    tables, dropped = [], 0
    for name, path in files.items():
        try:
            table, lost = clean(read_any(path))
        except (ValueError, KeyError) as error:
            print(f"SKIP {name}: {error}")
            continue
        table["source"] = name
        tables.append(table)
        dropped += lost
    if not tables:
        answer_text = "None of the files holds sales."
        STATUS = "invalid_request"
        return
    table = pd.concat(tables, ignore_index=True)
    report = monthly(table)
    best = top_products(table)
    odd = outliers(table)
    write_book(artifacts / "report.xlsx", {"Monthly": report, "Top products": best, "Outliers": odd})
    draw(report, artifacts / "monthly.png")
    facts = {
        "orders": int(len(table)),
        "dropped": int(dropped),
        "revenue": round(float(table["revenue"].sum()), 2),
        "from": table["order_date"].min().strftime("%Y-%m-%d"),
        "to": table["order_date"].max().strftime("%Y-%m-%d"),
    }
    (artifacts / "facts.json").write_text(json.dumps(facts, indent=2))
    print(f"LOG: {datetime.fromisoformat(facts['from']):%d %b %Y} {facts}")
    leader = best.iloc[0]["product"]
    answer_text = f"{facts['orders']} orders, ${facts['revenue']:,.2f} in all; {leader} sells best."
    STATUS = "success"


main()
