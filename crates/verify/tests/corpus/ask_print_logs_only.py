rows = inventory_tbl.search(where("quantity_in_stock") < 5)
for row in rows:
    print("LOW", row)
answer_text = f"{len(rows)} styles are running low."
STATUS = "success" if rows else "no_match"
