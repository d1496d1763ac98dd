ACTION, SHOULD_MUTATE = "mutate", True
document = {"item_id": "SG100", "name": "Moon", "description": "Round frame"}
document["price"] = 120.0
document["quantity_in_stock"] = 5
inventory_tbl.upsert(document, where("item_id") == document["item_id"])
answer_text = "Moon is in the list now."
STATUS = "success"
