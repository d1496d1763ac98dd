import pandas as pd

orders = frame("orders")
people = frame("customers")
joined = orders.merge(people[["customer_id", "name"]], on="customer_id", how="inner")
joined["line_total"] = joined["quantity"] * joined["unit_price"]
totals = joined.groupby("name")["line_total"].sum().sort_values(ascending=False)
if totals.empty:
    answer_text, STATUS = "No orders yet.", "no_match"
else:
    answer_text, STATUS = f"Best customer: {totals.index[0]}.", "success"
