import pandas as pd

orders = frame("orders")
orders["created_at"] = pd.to_datetime(orders["created_at"], errors="coerce")
invalid = orders["created_at"].isna().sum()
late = (orders["created_at"] > pd.Timestamp("2030-01-01")).sum()
ok = invalid == 0 and late == 0
result = {"status": "PASS" if ok else "FAIL", "summary": f"{invalid} invalid, {late} in the future"}
