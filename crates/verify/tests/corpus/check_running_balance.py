balance = None
broken = []
for row in sorted(transactions_tbl.all(), key=lambda r: r["timestamp"]):
    if balance is not None:
        expected = balance + row["transaction_amount"]
        if abs(expected - row["balance_after_transaction"]) > 0.005:
            broken.append({"transaction_id": row["transaction_id"], "expected": expected})
    balance = row["balance_after_transaction"]
result = {
    "status": "FAIL" if broken else "PASS",
    "summary": f"{len(broken)} rows break the running balance",
    "failed_rows": broken,
}
