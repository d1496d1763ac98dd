from datetime import datetime, timedelta

rows = transactions_tbl.all()
if not rows:
    answer_text, STATUS = "There are no transactions.", "no_match"
else:
    newest = max(datetime.fromisoformat(row["timestamp"]) for row in rows)
    since = (newest - timedelta(days=7)).isoformat()
    recent = transactions_tbl.search(where("timestamp") >= since)
    amount = sum(row["transaction_amount"] for row in recent)
    answer_text, STATUS = f"${amount:.2f} in the last week.", "success"
