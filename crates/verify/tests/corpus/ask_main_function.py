import sys


def main() -> None:
    global answer_text, STATUS
    row = inventory_tbl.get(where("name") == user_request.strip())
    if row is None:
        answer_text, STATUS = "I do not know that style.", "no_match"
        return
    if row["quantity_in_stock"] == 0:
        answer_text, STATUS = f"{row['name']} is sold out.", "insufficient_stock"
        return
    answer_text, STATUS = row["description"], "success"


if __name__ == "__main__":
    main()
    print(answer_text, file=sys.stderr)
