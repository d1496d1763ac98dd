ACTION = "mutate"
removed = inventory_tbl.remove(where("quantity_in_stock") == 0)
answer_text = f"Removed {len(removed)} empty styles."
STATUS = "success" if removed else "no_match"
