import re
from tinydb.operations import add

match = re.search(r"restock\s+(\w+)\s+by\s+(\d+)", user_request, re.IGNORECASE)
if not match:
    answer_text = "Please say which style and by how many."
    STATUS = "invalid_request"
else:
    name, amount = match.group(1).title(), int(match.group(2))
    changed = inventory_tbl.update(add("quantity_in_stock", amount), where("name") == name)
    if changed:
        answer_text = f"Added {amount} to {name}."
        STATUS = "success"
    else:
        answer_text = f"There is no style called {name}."
        STATUS = "no_match"
