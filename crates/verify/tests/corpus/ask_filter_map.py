cheap = filter(lambda row: row["price"] < 90, inventory_tbl.all())
labels = list(map(lambda row: f"{row['name']} (${row['price']})", cheap))
answer_text = "; ".join(labels) or "Nothing is cheap."
STATUS = "success" if labels else "no_match"
