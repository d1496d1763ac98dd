import pandas as pd

items = frame("inventory")
items["value"] = items["price"] * items["quantity_in_stock"]
top = items.sort_values("value", ascending=False).head(3)
answer_text = "Most capital is tied up in " + ", ".join(top["name"].tolist())
STATUS = "success" if len(top) else "no_match"
print(pd.__version__)
