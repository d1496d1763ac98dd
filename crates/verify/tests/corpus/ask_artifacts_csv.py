import csv

path = artifacts / "inventory.csv"
rows = inventory_tbl.all()
with open(path, "w", newline="") as file:
    writer = csv.DictWriter(file, fieldnames=["item_id", "name", "price"])
    writer.writeheader()
    for row in rows:
        writer.writerow({"item_id": row["item_id"], "name": row["name"], "price": row["price"]})
answer_text = "I wrote inventory.csv."
STATUS = "success"
