name = user_request.strip().lower()
if name in db.tables():
    answer_text = f"{name} has {len(db.table(name))} rows."
    STATUS = "success"
else:
    answer_text = "There is no such table."
    STATUS = "no_match"
