orders = frame("orders")
prices = orders.groupby("item_id")["unit_price"].nunique()
varying = prices[prices > 1]
result = {"status": "PASS" if varying.empty else "FAIL", "summary": f"{len(varying)} items with several prices"}
