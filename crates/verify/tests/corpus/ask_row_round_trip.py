item = inventory_tbl.get(where("item_id") == "SG001")
if item:
    changed = dict(item)
    changed["price"] = item["price"] + 5
    inventory_tbl.update(changed, where("item_id") == item["item_id"])
    answer_text, STATUS = "Raised the price by $5.", "success"
else:
    answer_text, STATUS = "There is no such item.", "no_match"
