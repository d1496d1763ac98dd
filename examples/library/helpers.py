"""The verb of the library."""


def lend(book, member):
    """Lends a book to a member."""
    title, reader = books_tbl.get(where("book_id") == book), members_tbl.get(where("member_id") == member)
    if reader["standing"] != "active":
        return {"text": f"{reader['name']} is suspended and may not borrow.", "status": "not_permitted"}
    if title["copies"] < 1:
        return {"text": f"No copy of {title['title']} is on the shelf.", "status": "not_available"}
    if loans_tbl.contains((where("book_id") == book) & (where("member_id") == member)):
        return {"text": f"{reader['name']} has {title['title']} already.", "status": "not_permitted"}
    books_tbl.update({"copies": title["copies"] - 1}, where("book_id") == book)
    number = max([int(row["loan_id"][1:]) for row in loans_tbl.all()], default=0) + 1
    loans_tbl.insert({"loan_id": f"L{number:02d}", "book_id": book, "member_id": member})
    return {"text": f"Lent {title['title']} to {reader['name']}.", "status": "success"}
