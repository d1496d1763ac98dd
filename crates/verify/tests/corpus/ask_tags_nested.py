Tag = Query()
gold = customers_tbl.search(Query().tags.any(Tag.level == "gold"))
answer_text = f"{len(gold)} gold customers."
STATUS = "success"
