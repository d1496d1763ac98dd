import re

Item = Query()
rows = inventory_tbl.search(Item.description.search(r"\bmetal\b", flags=re.IGNORECASE))
answer_text = "Metal frames: " + ", ".join(row["name"] for row in rows)
STATUS = "success" if rows else "no_match"
