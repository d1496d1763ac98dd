from operator import itemgetter

top = sorted(inventory_tbl.all(), key=itemgetter("quantity_in_stock"), reverse=True)
names = [row["name"] for row in top[:2]]
answer_text = "Most in stock: " + " and ".join(names)
STATUS = "success" if names else "no_match"
