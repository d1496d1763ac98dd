words = user_request.lower().split()
match words:
    case ["price", "of", name]:
        row = inventory_tbl.get(where("name") == name.title())
        answer_text = f"${row['price']}" if row else "Unknown style."
        STATUS = "success" if row else "no_match"
    case ["how", "many", *_]:
        answer_text = str(sum(row["quantity_in_stock"] for row in inventory_tbl.all()))
        STATUS = "success"
    case _:
        answer_text = "I can tell prices and counts."
        STATUS = "unsupported_intent"
