orders = frame("orders")
daily = orders.groupby(orders["created_at"].str[:10])["quantity"].sum()
daily.to_csv(artifacts / "daily.csv")
answer_text = f"{len(daily)} days."
STATUS = "success"
