"""The verb of the savings club."""


def transfer(amount, source, target):
    """Moves money from one account to another."""
    giver, taker = accounts_tbl.get(where("account_no") == source), accounts_tbl.get(where("account_no") == target)
    if source == target:
        return {"text": "Money cannot go from an account to itself.", "status": "invalid_request"}
    if giver["balance"] < amount:
        return {"text": f"{giver['name']} has only ${giver['balance']:,.2f}.", "status": "not_available"}
    accounts_tbl.update({"balance": round(giver["balance"] - amount, 2)}, where("account_no") == source)
    accounts_tbl.update({"balance": round(taker["balance"] + amount, 2)}, where("account_no") == target)
    number = len(transfers_tbl.all()) + 1
    transfers_tbl.insert({"transfer_no": f"T{number:03d}", "source": source, "target": target, "amount": amount})
    return {"text": f"Moved ${amount:,.2f} from {giver['name']} to {taker['name']}.", "status": "success"}
