items = frame("inventory").rename(columns={"quantity_in_stock": "stock"}).drop(columns=["description"])
low = items.loc[items["stock"] < 1, ["item_id", "name"]]
result = {"status": "PASS" if low.empty else "FAIL", "summary": f"{len(low)} styles are sold out"}
