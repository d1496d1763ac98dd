import re
from datetime import datetime, timezone

NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


def wanted(request):
    """Pairs of an item and how many of it are wanted."""
    found = []
    for row in inventory_tbl.all():
        name = row["name"].lower()
        pattern = rf"(\d+|{'|'.join(NUMBERS)})\s+(?:pairs?\s+of\s+)?{re.escape(name)}\b"
        match = re.search(pattern, request)
        if match:
            word = match.group(1)
            found.append((row, int(word) if word.isdigit() else NUMBERS[word]))
    return found


def sell(row, quantity, balance):
    amount = row["price"] * quantity
    inventory_tbl.update(
        {"quantity_in_stock": row["quantity_in_stock"] - quantity}, where("item_id") == row["item_id"]
    )
    transactions_tbl.insert(
        {
            "transaction_id": next_transaction_id(transactions_tbl),
            "customer_name": "WALK_IN",
            "transaction_summary": f"Sale of {quantity} x {row['name']}",
            "transaction_amount": amount,
            "balance_after_transaction": balance + amount,
            "timestamp": datetime.now(timezone.utc).isoformat(),
        }
    )
    return balance + amount


lines = wanted(user_request.lower())
short = [(row, quantity) for row, quantity in lines if row["quantity_in_stock"] < quantity]
if not lines:
    ACTION, SHOULD_MUTATE = "read", False
    answer_text = "What would you like to buy?"
    STATUS = "invalid_request"
elif short:
    ACTION, SHOULD_MUTATE = "read", False
    row, quantity = short[0]
    answer_text = f"We only have {row['quantity_in_stock']} of {row['name']}, not {quantity}."
    STATUS = "insufficient_stock"
else:
    ACTION, SHOULD_MUTATE = "mutate", True
    balance = get_current_balance(transactions_tbl)
    for row, quantity in lines:
        balance = sell(row, quantity, balance)
    names = " and ".join(f"{quantity} {row['name']}" for row, quantity in lines)
    answer_text = f"Sold {names}. Thank you!"
    STATUS = "success"
