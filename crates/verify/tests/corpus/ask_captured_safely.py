Item = Query()
conditions = [
    Item.description.test(lambda text, word=word: word in (text or "").lower())
    for word in user_request.lower().split()
    if len(word) > 3
]
combined = None
for condition in conditions:
    combined = condition if combined is None else combined | condition
rows = inventory_tbl.search(combined) if combined is not None else []
answer_text = ", ".join(row["name"] for row in rows) or "Nothing fits."
STATUS = "success" if rows else "no_match"
