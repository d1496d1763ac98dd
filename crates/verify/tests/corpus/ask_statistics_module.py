import statistics

prices = [row["price"] for row in inventory_tbl.all()]
if prices:
    answer_text = f"The median price is ${statistics.median(prices):.2f}."
    STATUS = "success"
else:
    answer_text = "There are no prices."
    STATUS = "no_match"
