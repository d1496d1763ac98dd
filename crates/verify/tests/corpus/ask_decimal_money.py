from decimal import ROUND_HALF_UP, Decimal

total = Decimal("0")
for row in transactions_tbl:
    total += Decimal(str(row["transaction_amount"]))
rounded = total.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
answer_text = f"All transactions add up to ${rounded}."
STATUS = "success"
