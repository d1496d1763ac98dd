bad = inventory_tbl.search(where("price") < 0)
result = {
    "status": "FAIL" if bad else "PASS",
    "summary": f"{len(bad)} items with a negative price",
    "failed_rows": [{"item_id": row["item_id"], "price": row["price"]} for row in bad],
}
