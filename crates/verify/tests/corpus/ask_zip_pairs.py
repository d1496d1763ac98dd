rows = sorted(inventory_tbl.all(), key=lambda row: row["price"])
gaps = [(right["price"] - left["price"], left["name"], right["name"]) for left, right in zip(rows, rows[1:])]
if gaps:
    size, lower, upper = max(gaps)
    answer_text = f"The widest gap is ${size} between {lower} and {upper}."
    STATUS = "success"
else:
    answer_text = "There are too few styles."
    STATUS = "no_match"
