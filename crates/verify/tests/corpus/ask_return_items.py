import re
from datetime import datetime

request = user_request.lower()
ACTION = "mutate"
SHOULD_MUTATE = True
quantity_match = re.search(r"return\s+(\d+)", request)
item = None
for row in inventory_tbl.all():
    if re.search(rf"\b{re.escape(row['name'].lower())}\b", request):
        item = row
        break

if item is None:
    answer_text = "Which style would you like to return?"
    STATUS = "no_match"
elif quantity_match is None:
    answer_text = f"How many pairs of {item['name']} would you like to return?"
    STATUS = "invalid_request"
else:
    quantity = int(quantity_match.group(1))
    total = -item["price"] * quantity
    balance = get_current_balance(transactions_tbl) + total
    inventory_tbl.update(
        {"quantity_in_stock": item["quantity_in_stock"] + quantity},
        Query().item_id == item["item_id"],
    )
    transactions_tbl.insert(
        {
            "transaction_id": next_transaction_id(transactions_tbl),
            "customer_name": "RETURN",
            "transaction_summary": f"Return of {quantity} {item['name']}",
            "transaction_amount": total,
            "balance_after_transaction": balance,
            "timestamp": datetime.now().isoformat(),
        }
    )
    answer_text = f"I have taken back {quantity} pairs of {item['name']}."
    STATUS = "success"
