orders = frame("orders")
seen = set()
repeated = []
for _, order in orders.iterrows():
    key = (order["customer_id"], order["item_id"], order["created_at"])
    if key in seen:
        repeated.append(order["order_id"])
    seen.add(key)
result = {"status": "FAIL" if repeated else "PASS", "summary": f"{len(repeated)} repeated orders"}
