if not user_request.strip():
    answer_text = "Please ask something."
    STATUS = "invalid_request"
    raise SystemExit
count = inventory_tbl.count(where("quantity_in_stock") == 0)
answer_text = f"{count} styles are sold out."
STATUS = "success"
