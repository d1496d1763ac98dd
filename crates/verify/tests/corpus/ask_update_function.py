def discount(row):
    row["price"] = round(row["price"] * 0.9, 2)


changed = inventory_tbl.update(discount, where("quantity_in_stock") > 20)
answer_text = f"Reduced {len(changed)} styles by 10 %."
STATUS = "success" if changed else "no_match"
ACTION = "mutate"
