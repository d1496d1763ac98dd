# 1) Read the limits from the request.
import re

request = user_request.lower()
match = re.search(r"under \$?(\d+(?:\.\d+)?)", request)
limit = float(match.group(1)) if match else None
wants_round = "round" in request

# 2) Build the condition step by step.
Item = Query()
condition = Item.quantity_in_stock > 0
if limit is not None:
    condition = condition & (Item.price < limit)
if wants_round:
    is_round = lambda text: bool(re.search(r"\bround\b", (text or "").lower()))
    condition = condition & (Item.description.test(is_round) | Item.name.test(is_round))

# 3) Ask the table.
rows = inventory_tbl.search(condition)
ACTION = "read"
SHOULD_MUTATE = False
print(f"LOG: ACTION={ACTION} found={len(rows)}")

# 4) Answer.
if rows:
    best = min(rows, key=lambda row: row["price"])
    answer_text = f"Yes, our {best['name']} is available for ${best['price']:.2f}."
    STATUS = "success"
else:
    answer_text = "Nothing matches right now."
    STATUS = "no_match"
