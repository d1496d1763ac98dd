def next_id(table) -> object:
    """A key for a new row of this table (its variable or its name), in the form of its other keys; no key is ever given twice."""
    return db.next_id(table.name)


def now() -> str:
    """The time now in UTC, as ISO 8601 text."""
    from datetime import datetime, timezone
    return datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
