rows = transactions_tbl.all()
latest = sorted(rows, key=lambda row: row["timestamp"], reverse=True)[:5]
answer_rows = [
    {"when": row["timestamp"], "what": row["transaction_summary"], "amount": row["transaction_amount"]}
    for row in latest
]
answer_text = f"The last {len(latest)} transactions are below."
STATUS = "success" if latest else "no_match"
