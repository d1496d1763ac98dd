import json

rows = inventory_tbl.all()
answer_json = {
    "count": len(rows),
    "value": sum(row["price"] * row["quantity_in_stock"] for row in rows),
    "names": [row["name"] for row in rows],
}
print(json.dumps(answer_json))
answer_text = f"{answer_json['count']} styles."
STATUS = "success"
