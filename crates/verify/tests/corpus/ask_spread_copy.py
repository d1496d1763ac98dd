original = inventory_tbl.get(where("name") == "Classic")
if original is None:
    answer_text = "Classic is unknown."
    STATUS = "no_match"
else:
    inventory_tbl.insert({**original, "item_id": "SG200", "name": "Classic II"})
    answer_text = "Copied Classic."
    STATUS = "success"
