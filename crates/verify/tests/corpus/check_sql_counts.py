rows = db.query("SELECT COUNT(*) AS n FROM transactions WHERE transaction_amount IS NULL")
count = rows[0]["n"]
result = dict(status="PASS" if count == 0 else "FAIL", summary=f"{count} empty amounts")
