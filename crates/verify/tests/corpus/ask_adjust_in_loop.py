ACTION, SHOULD_MUTATE = "mutate", True
changed = 0
for row in inventory_tbl.search(where("price") > 100):
    inventory_tbl.update({"price": row["price"] - 10}, doc_ids=[row.doc_id])
    changed += 1
answer_text = f"Reduced {changed} prices by $10."
STATUS = "success" if changed else "no_match"
