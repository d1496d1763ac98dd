rows = db.query("SELECT SUM(price * quantity_in_stock) AS total FROM inventory")
total = rows[0]["total"] or 0
answer_text = f"The stock is worth ${total:,.2f}."
STATUS = "success"
