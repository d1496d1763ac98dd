"""The verbs of the library."""

from datetime import date, timedelta


def next_loan_id() -> str:
    """An id that no loan has yet."""
    numbers = [int(row["loan_id"][1:]) for row in loans_tbl.all()]
    return f"L{max(numbers, default=0) + 1:02d}"


def open_loan(book, member):
    """The loan under which a member has a book out, or nothing."""
    loans = loans_tbl.search((where("book_id") == book) & (where("member_id") == member))
    still_out = [loan for loan in loans if loan["returned_on"] is None]
    return still_out[0] if still_out else None


def lend(book, member):
    """Lends a book to a member for three weeks."""
    title = books_tbl.get(where("book_id") == book)
    reader = members_tbl.get(where("member_id") == member)
    if reader["standing"] != "active":
        return {"text": f"{reader['name']} is {reader['standing']} and may not borrow.", "status": "not_permitted"}
    if title["copies_available"] < 1:
        return {"text": f"No copy of {title['title']} is on the shelf.", "status": "not_available"}
    loans = loans_tbl.search(where("member_id") == member)
    if len([loan for loan in loans if loan["returned_on"] is None]) >= 3:
        return {"text": f"{reader['name']} has three open loans already.", "status": "not_permitted"}
    today = date.today()
    due = today + timedelta(weeks=3)
    books_tbl.update({"copies_available": title["copies_available"] - 1}, where("book_id") == book)
    loans_tbl.insert({
        "loan_id": next_loan_id(), "book_id": book, "member_id": member,
        "loaned_on": today.isoformat(), "due_on": due.isoformat(), "returned_on": None,
    })
    return {"text": f"Lent {title['title']} to {reader['name']} until {due.isoformat()}.", "status": "success"}


def take_back(book, member):
    """Takes back a book that a member has out."""
    title = books_tbl.get(where("book_id") == book)
    reader = members_tbl.get(where("member_id") == member)
    loan = open_loan(book, member)
    if loan is None:
        return {"text": f"{reader['name']} does not have {title['title']} out.", "status": "no_match"}
    loans_tbl.update({"returned_on": date.today().isoformat()}, where("loan_id") == loan["loan_id"])
    books_tbl.update({"copies_available": title["copies_available"] + 1}, where("book_id") == book)
    return {"text": f"{reader['name']} returned {title['title']}.", "status": "success"}


def extend(book, member, due_on):
    """Moves the day by which a member must bring a book back."""
    title = books_tbl.get(where("book_id") == book)
    reader = members_tbl.get(where("member_id") == member)
    loan = open_loan(book, member)
    if loan is None:
        return {"text": f"{reader['name']} does not have {title['title']} out.", "status": "no_match"}
    if due_on <= loan["due_on"]:
        return {"text": f"{title['title']} is due on {loan['due_on']}; the new day must be later.", "status": "invalid_request"}
    loans_tbl.update({"due_on": due_on}, where("loan_id") == loan["loan_id"])
    return {"text": f"{title['title']} is now due on {due_on} for {reader['name']}.", "status": "success"}


def suspend(member):
    """Suspends a member from borrowing."""
    return set_standing(member, "suspended")


def reinstate(member):
    """Lets a suspended member borrow again."""
    return set_standing(member, "active")


def set_standing(member, standing):
    """Gives a member another standing."""
    reader = members_tbl.get(where("member_id") == member)
    if reader["standing"] == standing:
        return {"text": f"{reader['name']} is {standing} already.", "status": "invalid_request"}
    members_tbl.update({"standing": standing}, where("member_id") == member)
    return {"text": f"{reader['name']} is now {standing}.", "status": "success"}
