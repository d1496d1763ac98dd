counts = {}
for name in ("inventory", "customers"):
    counts[name] = len(db.table(name))
answer_text = ", ".join(f"{name}: {count}" for name, count in counts.items())
STATUS = "success"
