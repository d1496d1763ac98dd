LIMITS = {"quantity": (1, 100), "unit_price": (0, 5000)}
orders = frame("orders")
problems = []
for column, (low, high) in LIMITS.items():
    outside = orders[(orders[column] < low) | (orders[column] > high)]
    if len(outside):
        problems.append(f"{column}: {len(outside)}")
result = {"status": "FAIL" if problems else "PASS", "summary": "; ".join(problems) or "all inside"}
