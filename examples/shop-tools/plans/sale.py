from datetime import datetime

quantity = 20
item = inventory_tbl.get(Query().name == "Aviator")
left = item["quantity_in_stock"] - quantity
if left < 0:
    answer_text = "There are not enough Aviator."
    STATUS = "insufficient_stock"
else:
    total = quantity * item["price"]
    inventory_tbl.update({"quantity_in_stock": left}, Query().name == "Aviator")
    transactions_tbl.insert({
        "transaction_id": f"TXN{len(transactions_tbl) + 1:03d}",
        "customer_name": "Alice",
        "transaction_summary": f"Sale: {quantity} x Aviator",
        "transaction_amount": total,
        "balance_after_transaction": transactions_tbl.all()[-1]["balance_after_transaction"] + total,
        "timestamp": datetime.now().isoformat(timespec="seconds"),
    })
    customer = tools.mail.address_of(customer="Alice")
    tools.mail.send(to=customer["address"], subject="Your receipt", body=f"{quantity} x Aviator: ${total}")
    if left < 5:
        tools.tracker.open(title=f"Order Aviator: {left} left")
    answer_text = f"Sold {quantity} Aviator to Alice for ${total}."
    STATUS = "success"
