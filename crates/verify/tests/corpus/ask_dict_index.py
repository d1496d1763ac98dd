by_name = {row["name"].lower(): row for row in inventory_tbl.all()}
hits = [by_name[word] for word in user_request.lower().split() if word in by_name]
answer_json = {"matches": [{"id": hit["item_id"], "price": hit["price"]} for hit in hits]}
answer_text = f"{len(hits)} styles match."
STATUS = "success" if hits else "no_match"
