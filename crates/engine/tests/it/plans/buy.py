# Look up each wanted item, and buy all of them or none.
from datetime import datetime

ACTION = "mutate"
wanted = [("Classic", 3), ("Aviator", 1)]
Item = Query()
short = []
for name, quantity in wanted:
    item = inventory_tbl.get(Item.name == name)
    if item is None or item["quantity_in_stock"] < quantity:
        short.append(name)

if short:
    ACTION = "read"
    answer_text = f"There is not enough stock of {', '.join(short)}."
    STATUS = "insufficient_stock"
else:
    balance = transactions_tbl.all()[-1]["balance_after_transaction"]
    number = len(transactions_tbl)
    for name, quantity in wanted:
        item = inventory_tbl.get(Item.name == name)
        inventory_tbl.update({"quantity_in_stock": item["quantity_in_stock"] - quantity}, Item.name == name)
        amount = item["price"] * quantity
        balance += amount
        number += 1
        transactions_tbl.insert({
            "transaction_id": f"TXN{number:03d}",
            "customer_name": "WALK_IN",
            "transaction_summary": f"Sold {quantity} {name}",
            "transaction_amount": amount,
            "balance_after_transaction": balance,
            "timestamp": datetime.now().isoformat(timespec="seconds"),
        })
    answer_text = "Sold 3 Classic and 1 Aviator."
    STATUS = "success"
