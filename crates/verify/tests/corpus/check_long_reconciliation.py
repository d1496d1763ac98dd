"""Compares what was ordered with what the record of transactions says."""
import math
from collections import Counter, defaultdict

import pandas as pd

TOLERANCE = 0.01
MAX_ROWS = 50


def load_orders():
    orders = frame("orders").copy()
    orders["total"] = orders["quantity"] * orders["unit_price"]
    orders["created_at"] = pd.to_datetime(orders["created_at"])
    orders["day"] = orders["created_at"].dt.date
    return orders


def load_sales():
    sales = frame("transactions")
    sales = sales[sales["transaction_amount"] > 0].copy()
    sales["timestamp"] = pd.to_datetime(sales["timestamp"])
    sales["day"] = sales["timestamp"].dt.date
    return sales


def by_day(table, column):
    grouped = table.groupby("day")[column].sum()
    return {day: float(value) for day, value in grouped.items()}


def compare(left, right):
    differences = []
    for day in sorted(set(left) | set(right)):
        ordered = left.get(day, 0.0)
        recorded = right.get(day, 0.0)
        if not math.isclose(ordered, recorded, abs_tol=TOLERANCE):
            differences.append({"day": str(day), "ordered": ordered, "recorded": recorded})
    return differences


def busiest(table, limit=3):
    counts = Counter(table["day"])
    return [str(day) for day, _ in counts.most_common(limit)]


def weekday_totals(differences):
    totals = defaultdict(float)
    for difference in differences:
        weekday = pd.Timestamp(difference["day"]).day_name()
        totals[weekday] += difference["ordered"] - difference["recorded"]
    return dict(totals)


orders = load_orders()
sales = load_sales()
ordered = by_day(orders, "total")
recorded = by_day(sales, "transaction_amount")
differences = compare(ordered, recorded)

if orders.empty and sales.empty:
    result = {"status": "PASS", "summary": "nothing to compare", "failed_rows": []}
elif differences:
    worst = max(differences, key=lambda d: abs(d["ordered"] - d["recorded"]))
    result = {
        "status": "FAIL",
        "summary": f"{len(differences)} days differ, worst on {worst['day']}",
        "failed_rows": differences[:MAX_ROWS],
        "weekdays": weekday_totals(differences),
    }
else:
    result = {
        "status": "PASS",
        "summary": f"{len(ordered)} days agree; busiest: {', '.join(busiest(orders))}",
        "failed_rows": [],
    }
print(result["summary"])
