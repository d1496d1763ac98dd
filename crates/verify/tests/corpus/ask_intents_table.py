import re

INTENTS = [
    ("count", r"\bhow many\b"),
    ("price", r"\b(price|cost)\b"),
    ("list", r"\b(list|show)\b"),
]


def count():
    total = sum(row["quantity_in_stock"] for row in inventory_tbl)
    return f"{total} pairs are in stock.", "success"


def price():
    for row in inventory_tbl:
        if row["name"].lower() in user_request.lower():
            return f"{row['name']} costs ${row['price']}.", "success"
    return "Which style do you mean?", "invalid_request"


def show():
    return ", ".join(row["name"] for row in inventory_tbl), "success"


HANDLERS = {"count": count, "price": price, "list": show}
intent = next((name for name, pattern in INTENTS if re.search(pattern, user_request, re.I)), None)
if intent is None:
    answer_text, STATUS = "I can count, price and list.", "unsupported_intent"
else:
    answer_text, STATUS = HANDLERS[intent]()
