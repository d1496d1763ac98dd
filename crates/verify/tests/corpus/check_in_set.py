allowed = {"Aviator", "Classic", "Moon", "Wayfarer"}
others = [row["item_id"] for row in inventory_tbl if row["name"] not in allowed]
if others:
    result = {"status": "FAIL", "summary": f"unknown styles: {', '.join(others)}"}
else:
    result = {"status": "PASS", "summary": "only known styles"}
