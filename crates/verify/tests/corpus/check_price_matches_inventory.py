orders = frame("orders")
items = frame("inventory")
both = orders.merge(items, on="item_id", how="inner")
difference = (both["unit_price"] - both["price"]).abs()
wrong = both[difference > 0.01]
result = {"status": "PASS", "summary": "all prices agree"}
if len(wrong) > 0:
    result["status"] = "FAIL"
    result["summary"] = f"{len(wrong)} orders at another price"
    result["failed_rows"] = wrong[["order_id", "unit_price", "price"]].to_dict("records")
