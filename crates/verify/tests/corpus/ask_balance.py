balance = get_current_balance(transactions_tbl)
answer_text = f"The balance is ${balance:.2f}."
STATUS = "success"
