"""The verbs of the parts shop."""

from datetime import datetime


def write_entry(buyer, part, units, note):
    """Adds an entry to the ledger, with its running total."""
    entries = sales_ledger_tbl.all()
    numbers = [int(entry["entry_no"][2:]) for entry in entries]
    total = round(part["unit_price"] * units, 2)
    running = round((entries[-1]["running_total"] if entries else 0) + total, 2)
    sales_ledger_tbl.insert({
        "entry_no": f"S-{max(numbers, default=0) + 1:04d}", "buyer": buyer, "part_sku": part["sku"], "units": units,
        "total": total, "running_total": running, "sold_at": datetime.now().isoformat(timespec="seconds"), "note": note,
    })
    return total


def sell(part, units, buyer):
    """Sells parts to a buyer."""
    row = parts_tbl.get(where("sku") == part)
    if row["on_hand"] < units:
        return {"text": f"Only {row['on_hand']} {row['title']} on hand.", "status": "insufficient_stock"}
    parts_tbl.update({"on_hand": row["on_hand"] - units}, where("sku") == part)
    total = write_entry(buyer, row, units, f"Sale: {units} x {row['title']}")
    return {"text": f"Sold {units} {row['title']} to {buyer} for {total:g}.", "status": "success"}


def take_back(part, units, buyer):
    """Takes back parts that a buyer bought here."""
    row = parts_tbl.get(where("sku") == part)
    sold = sum(entry["units"] for entry in sales_ledger_tbl.search(where("part_sku") == part))
    if units > sold:
        return {"text": f"Only {sold} {row['title']} were sold; {units} cannot come back.", "status": "not_permitted"}
    parts_tbl.update({"on_hand": row["on_hand"] + units}, where("sku") == part)
    total = write_entry(buyer, row, -units, f"Return: {units} x {row['title']}")
    return {"text": f"Took back {units} {row['title']} for {-total:g}.", "status": "success"}


def restock(part, units):
    """Puts delivered parts on hand."""
    row = parts_tbl.get(where("sku") == part)
    parts_tbl.update({"on_hand": row["on_hand"] + units}, where("sku") == part)
    return {"text": f"{row['on_hand'] + units} {row['title']} are on hand now.", "status": "success"}
