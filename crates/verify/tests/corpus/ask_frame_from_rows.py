import pandas as pd

frame_of_items = pd.DataFrame(inventory_tbl.all())
cheap = frame_of_items[frame_of_items["price"] < 100]
if cheap.empty:
    answer_text, STATUS = "Nothing under $100.", "no_match"
else:
    mean = cheap["price"].mean()
    answer_text, STATUS = f"{len(cheap)} styles, ${mean:.2f} on average.", "success"
