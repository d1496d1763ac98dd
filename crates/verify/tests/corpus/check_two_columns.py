transactions = frame("transactions")
odd = transactions.query("transaction_amount > balance_after_transaction and transaction_amount > 0")
result = {"status": "FAIL" if len(odd) else "PASS", "summary": f"{len(odd)} odd balances"}
