Item = Query()
exact = inventory_tbl.search((Item.price <= 50) & (Item.quantity_in_stock > 0))
if exact:
    answer_text = f"{exact[0]['name']} fits your budget."
    STATUS = "success"
if not exact:
    others = [row for row in inventory_tbl.all() if row["quantity_in_stock"] > 0]
    if others:
        nearest = min(others, key=lambda row: abs(row["price"] - 50))
        answer_text = f"Nothing under $50, but {nearest['name']} is ${nearest['price']}."
    else:
        answer_text = "We are sold out."
    STATUS = "no_match"
