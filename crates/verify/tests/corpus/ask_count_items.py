answer_text, STATUS = f"We have {len(inventory_tbl)} styles.", "success"
