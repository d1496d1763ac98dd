"""The shop's mail: it writes to `mail.jsonl` what a real one would send."""

from server import Kept, serve, verb

SENT = Kept("mail.jsonl")
VERBS = {
    "address_of": verb("The address of a customer.", ["customer"]),
    "send": verb("Sends a mail.", ["to", "subject", "body"]),
}


def call(name, arguments, key):
    """Carries out one call."""
    if name == "address_of":
        return {"address": arguments["customer"].lower() + "@example.org"}
    if "@" not in arguments["to"]:
        raise ValueError("that is no address")
    return {"message_id": SENT.add(key, arguments)["id"]}


serve("mail", VERBS, call)
