"""Runs a set of rules over the shop's tables and fails if any of them fails."""
from collections import OrderedDict

import numpy as np
import pandas as pd

MAX_ROWS = 20
RULES = OrderedDict()


def rule(name):
    """Registers a rule; it returns the rows that break it."""

    def register(function):
        RULES[name] = function
        return function

    return register


def load():
    tables = {
        "items": frame("inventory"),
        "orders": frame("orders"),
        "people": frame("customers"),
        "money": frame("transactions"),
    }
    tables["orders"]["created_at"] = pd.to_datetime(tables["orders"]["created_at"], errors="coerce")
    tables["money"]["timestamp"] = pd.to_datetime(tables["money"]["timestamp"], errors="coerce")
    return tables


@rule("every order has a known item")
def known_items(tables):
    orders, items = tables["orders"], tables["items"]
    return orders[~orders["item_id"].isin(items["item_id"])][["order_id", "item_id"]]


@rule("every order has a known customer")
def known_customers(tables):
    merged = tables["orders"].merge(tables["people"], on="customer_id", how="left", indicator=True)
    return merged[merged["_merge"] == "left_only"][["order_id", "customer_id"]]


@rule("quantities are positive")
def positive_quantities(tables):
    orders = tables["orders"]
    return orders[(orders["quantity"] <= 0) | orders["quantity"].isna()][["order_id", "quantity"]]


@rule("stock is not negative")
def stock(tables):
    items = tables["items"]
    return items.loc[items["quantity_in_stock"] < 0, ["item_id", "quantity_in_stock"]]


@rule("prices are within 50 % of the list price")
def prices(tables):
    both = pd.merge(tables["orders"], tables["items"], on="item_id")
    ratio = both["unit_price"] / both["price"].replace(0, np.nan)
    return both[(ratio < 0.5) | (ratio > 1.5)][["order_id", "unit_price", "price"]]


@rule("times can be read")
def times(tables):
    orders, money = tables["orders"], tables["money"]
    lost = orders[orders["created_at"].isna()]
    also = money[money["timestamp"].isna()]
    return pd.DataFrame({"where": ["orders"] * len(lost) + ["transactions"] * len(also)})


@rule("amounts add up")
def balances(tables):
    money = tables["money"].sort_values("timestamp")
    expected = money["balance_after_transaction"].shift(1) + money["transaction_amount"]
    wrong = (expected - money["balance_after_transaction"]).abs() > 0.01
    return money[wrong.fillna(False)][["transaction_id", "transaction_amount", "balance_after_transaction"]]


@rule("no customer orders more than 500 units of one item")
def large_orders(tables):
    units = tables["orders"].groupby(["customer_id", "item_id"])["quantity"].sum().reset_index()
    return units[units["quantity"] > 500]


@rule("names are unique")
def unique_names(tables):
    items = tables["items"]
    return items[items["name"].duplicated(keep=False)][["item_id", "name"]]


def run(tables):
    outcome = []
    for name, function in RULES.items():
        failed = function(tables)
        outcome.append({"rule": name, "failed": int(len(failed)), "rows": failed.head(MAX_ROWS).to_dict("records")})
    return outcome


tables = load()
outcome = run(tables)
broken = [entry for entry in outcome if entry["failed"]]
for entry in outcome:
    mark = "FAIL" if entry["failed"] else "ok"
    print(f"{mark:<5}{entry['rule']} ({entry['failed']})")
if broken:
    worst = max(broken, key=lambda entry: entry["failed"])
    result = {
        "status": "FAIL",
        "summary": f"{len(broken)} of {len(outcome)} rules fail; worst: {worst['rule']}",
        "failed_rows": [row for entry in broken for row in entry["rows"]],
    }
else:
    result = {"status": "PASS", "summary": f"all {len(outcome)} rules hold", "failed_rows": []}
