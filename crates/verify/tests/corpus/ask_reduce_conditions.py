from functools import reduce

Item = Query()
parts = [Item.quantity_in_stock > 0]
if "cheap" in user_request:
    parts.append(Item.price < 80)
if "round" in user_request:
    parts.append(Item.description.matches(r".*\bround\b.*"))
rows = inventory_tbl.search(reduce(lambda left, right: left & right, parts))
answer_text = f"{len(rows)} styles fit."
STATUS = "success" if rows else "no_match"
