import re

numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", user_request)]
if len(numbers) < 2:
    answer_text = "Please give two prices."
    STATUS = "invalid_request"
else:
    low, high = sorted(numbers)[:2]
    found = inventory_tbl.search((where("price") >= low) & (where("price") <= high))
    names = ", ".join(item["name"] for item in found)
    answer_text = names or "Nothing in that range."
    STATUS = "success" if found else "no_match"
