answer_rows = inventory_tbl.all()
answer_text = f"Here are all {len(answer_rows)} styles."
STATUS = "success"
