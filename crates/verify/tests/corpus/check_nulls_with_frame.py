items = frame("inventory")
missing = items[items["name"].isna() | items["description"].isna()]
result = {"status": "PASS" if missing.empty else "FAIL", "summary": f"{len(missing)} rows lack a text"}
