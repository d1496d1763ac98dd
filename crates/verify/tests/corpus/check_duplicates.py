items = frame("inventory")
twice = items[items.duplicated(subset=["name"], keep=False)]
status = "FAIL"
if twice.empty:
    status = "PASS"
result = {"status": status, "summary": f"{len(twice)} rows share a name"}
