"""The shop's issue tracker: it writes to `tickets.jsonl`."""

from server import Kept, serve, verb

TICKETS = Kept("tickets.jsonl")
VERBS = {
    "open": verb("Opens a ticket.", ["title"]),
    "close": verb("Closes a ticket.", ["ticket_id"]),
}


def call(name, arguments, key):
    """Carries out one call."""
    if name == "open":
        return {"ticket_id": TICKETS.add(key, {"open": arguments["title"]})["id"]}
    return {"closed": TICKETS.add(key, {"close": arguments["ticket_id"]})["close"]}


serve("tracker", VERBS, call)
