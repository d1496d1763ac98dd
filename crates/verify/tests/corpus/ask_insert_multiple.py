sizes = ["S", "M", "L"]
inventory_tbl.insert_multiple(
    [
        {"item_id": f"SG3{i}", "name": f"Kids {size}", "description": "", "quantity_in_stock": 0, "price": 20.0}
        for i, size in enumerate(sizes)
    ]
)
answer_text = f"Added {len(sizes)} styles."
STATUS = "success"
ACTION = "mutate"
