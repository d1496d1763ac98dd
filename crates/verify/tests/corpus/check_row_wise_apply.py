orders = frame("orders")


def is_wrong(row):
    return row["quantity"] <= 0 or row["unit_price"] < 0


flags = orders.apply(is_wrong, axis=1)
failed = orders[flags]
result = {
    "status": "PASS" if failed.empty else "FAIL",
    "summary": f"{len(failed)} orders with impossible numbers",
    "failed_rows": failed.head(20).to_dict("records"),
}
