"""Sells one style: parse, check, write, answer."""
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Optional


@dataclass
class Order:
    name: str
    quantity: int
    customer: Optional[str] = None


def parse(text: str) -> Optional[Order]:
    """Reads `3 Wayfarer for customer Alice`."""
    match = re.search(
        r"(?P<quantity>\d+)\s+(?:pairs?\s+of\s+)?(?P<name>[A-Za-z]+)(?:.*?customer\s+(?P<customer>\w+))?",
        text,
    )
    if match is None:
        return None
    return Order(match["name"].title(), int(match["quantity"]), match["customer"])


def find(name: str):
    Item = Query()
    exact = inventory_tbl.get(Item.name == name)
    if exact is not None:
        return exact
    pattern = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
    return inventory_tbl.get(Item.name.test(lambda value: bool(pattern.search(value or ""))))


def record(order: Order, item, balance: float) -> float:
    total = round(item["price"] * order.quantity, 2)
    transaction = {
        "transaction_id": next_transaction_id(transactions_tbl, prefix="TXN"),
        "customer_name": order.customer or "WALK_IN",
        "transaction_summary": f"Purchase of {order.quantity} {item['name']}",
        "transaction_amount": total,
    }
    transaction["balance_after_transaction"] = balance + total
    transaction["timestamp"] = datetime.utcnow().isoformat(timespec="seconds")
    transactions_tbl.insert(transaction)
    return total


ACTION = "read"
SHOULD_MUTATE = False
order = parse(user_request)
item = find(order.name) if order else None
if order is None:
    answer_text = "Please tell me how many of which style."
    STATUS = "invalid_request"
elif item is None:
    names = ", ".join(sorted(row["name"] for row in inventory_tbl.all()))
    answer_text = f"We do not have {order.name}. We have {names}."
    STATUS = "no_match"
elif item["quantity_in_stock"] < order.quantity:
    answer_text = f"Only {item['quantity_in_stock']} {item['name']} are left."
    STATUS = "insufficient_stock"
else:
    ACTION = "mutate"
    SHOULD_MUTATE = True
    left = item["quantity_in_stock"] - order.quantity
    inventory_tbl.update({"quantity_in_stock": left}, Query().item_id == item["item_id"])
    paid = record(order, item, get_current_balance(transactions_tbl))
    answer_text = f"Sold {order.quantity} {item['name']} for ${paid:.2f}."
    STATUS = "success"
print(f"LOG: ACTION={ACTION} SHOULD_MUTATE={SHOULD_MUTATE} STATUS={STATUS}")
