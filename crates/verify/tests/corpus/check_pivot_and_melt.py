orders = frame("orders")
wide = orders.pivot_table(index="customer_id", columns="item_id", values="quantity", aggfunc="sum", fill_value=0)
empty = int((wide.sum(axis=1) == 0).sum())
result = {"status": "PASS" if empty == 0 else "FAIL", "summary": f"{empty} customers with no units"}
