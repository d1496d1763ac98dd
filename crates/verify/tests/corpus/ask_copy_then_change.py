import copy

rows = inventory_tbl.search(where("name") == "Moon")
for row in rows:
    shown = copy.deepcopy(row)
    shown["price"] = f"${row['price']}"
    print(shown["price"], shown["name"])
answer_text = f"{len(rows)} found."
STATUS = "success" if rows else "no_match"
