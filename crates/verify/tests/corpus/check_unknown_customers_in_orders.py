orders = frame("orders")
customers = frame("customers")
orphans = orders[~orders["customer_id"].isin(customers["customer_id"])]
result = {
    "status": "FAIL" if len(orphans) else "PASS",
    "summary": f"{len(orphans)} orders without a customer",
    "failed_rows": orphans[["order_id", "customer_id"]].to_dict("records"),
}
