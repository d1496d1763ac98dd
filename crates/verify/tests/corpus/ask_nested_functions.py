def build(limit):
    Item = Query()

    def is_cheap():
        return Item.price < limit

    def has_stock():
        return Item.quantity_in_stock >= 1

    return is_cheap() & has_stock()


rows = inventory_tbl.search(build(75))
answer_text = ", ".join(sorted(row["name"] for row in rows)) or "Nothing."
STATUS = "success" if rows else "no_match"
