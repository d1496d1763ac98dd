def in_stock(rows):
    for row in rows:
        if row["quantity_in_stock"] > 0:
            yield row


names = [row["name"] for row in in_stock(inventory_tbl.all())]
answer_text = ", ".join(names) or "Nothing is in stock."
STATUS = "success" if names else "no_match"
