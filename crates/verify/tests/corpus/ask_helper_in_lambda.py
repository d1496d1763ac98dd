get_price = lambda name: inventory_tbl.get(where("name") == name)
row = get_price("Aviator")
answer_text = f"${row['price']}" if row is not None else "No Aviator."
STATUS = "success" if row is not None else "no_match"
