orders = frame("orders")
totals = orders.groupby("customer_id").agg(count=("order_id", "count"), units=("quantity", "sum")).reset_index()
large = totals[totals["units"] > 1000]
result = {"status": "FAIL" if len(large) else "PASS", "summary": f"{len(large)} customers above 1000 units"}
