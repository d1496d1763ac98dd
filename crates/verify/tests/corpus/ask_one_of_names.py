names = [word.strip(".,!?").title() for word in user_request.split()]
hits = inventory_tbl.search(Query().name.one_of(names))
answer_text = f"I know {len(hits)} of these."
STATUS = "success" if hits else "no_match"
