rows = sorted(inventory_tbl.all(), key=lambda r: r["price"])
if rows:
    answer_text = f"The cheapest is {rows[0]['name']} at ${rows[0]['price']}."
    STATUS = "success"
else:
    answer_text = "The shop is empty."
    STATUS = "no_match"
