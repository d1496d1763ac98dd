answer_text = "I could not find that."
STATUS = "no_match"
ACTION = "read"
for row in inventory_tbl:
    if row["name"].lower() in user_request.lower():
        answer_text = f"{row['name']}: {row['quantity_in_stock']} in stock."
        STATUS = "success"
        break
