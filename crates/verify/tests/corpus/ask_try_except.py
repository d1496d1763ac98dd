import re

try:
    quantity = int(re.findall(r"\d+", user_request)[0])
    price = inventory_tbl.get(where("name") == "Aviator")["price"]
    answer_text = f"{quantity} Aviators cost ${quantity * price:.2f}."
    STATUS = "success"
except (IndexError, TypeError):
    answer_text = "How many would you like?"
    STATUS = "invalid_request"
