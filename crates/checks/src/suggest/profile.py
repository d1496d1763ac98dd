# Looks at a table and tells what its rows have in common, for checks to be proposed from.
import pandas as pd

VALUES_MAX = 20
COLUMNS_MAX = 200
PAIRS_MAX = 8
FORMATS = {
    "email": r"[^@\s]+@[^@\s]+\.[^@\s.]+",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "url": r"https?://[^\s/$.?#]\S*",
    "ipv4": r"(?:\d{1,3}\.){3}\d{1,3}",
    "date_text": r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?",
}


def plain(value):
    """A value that JSON has."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (bool, int, float)) else str(value)[:200]


def kind_of(values):
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_datetime64_any_dtype(values):
        return "timestamp"
    if pd.api.types.is_numeric_dtype(values):
        return "integer" if values.mod(1).eq(0).all() else "real"
    return "text"


def column_profile(values):
    there = values.dropna()
    # A value that does not fit its column is there all the same.
    unread = len(values.attrs.get("misfits", {}).get(values.name, ()))
    facts = {"name": str(values.name), "nulls": int(values.isna().sum()) - unread, "type": kind_of(there) if len(there) else "text"}
    try:
        different = there.value_counts()
    except TypeError:
        # Lists and records have no distinct values.
        return facts | {"type": "json", "distinct": len(there)}
    facts["distinct"] = len(different)
    if len(different) <= VALUES_MAX:
        facts["values"] = [plain(value) for value in different.index]
        facts["rarest"] = int(different.min()) if len(different) else 0
    if facts["type"] in ("integer", "real", "timestamp") and len(there):
        facts |= {"min": plain(there.min()), "max": plain(there.max()), "increasing": bool(there.is_monotonic_increasing)}
    if facts["type"] == "text" and len(there):
        text = there.astype("str")
        facts |= {"length_min": int(text.str.len().min()), "length_max": int(text.str.len().max())}
        matching = [name for name, pattern in FORMATS.items() if text.str.fullmatch(pattern).all()]
        facts["format"] = matching[0] if matching else None
    return facts


def ordered_pairs(rows, columns):
    """Columns of which one is never above the other."""
    is_time = lambda column: column["type"] == "timestamp" or column.get("format") == "date_text"
    names = [column["name"] for column in columns if is_time(column)][:PAIRS_MAX]
    times = {name: pd.to_datetime(rows[name], errors="coerce", utc=True, format="mixed") for name in names}
    found = []
    for left, earlier in times.items():
        for right, later in times.items():
            both = earlier.notna() & later.notna()
            if left != right and both.any() and (earlier[both] <= later[both]).all() and (earlier < later).any():
                found.append({"left": left, "right": right, "rows": int(both.sum())})
    return found


def references_of(rows, columns):
    """Columns that repeat a column without repetition of another table: one of the same name, or `customer_id` the `id` of
    `customers`."""
    found = []
    for name in inputs["others"]:
        other, stem = frame(name), name.rsplit(".")[-1].lower()
        singular = stem[:-3] + "y" if stem.endswith("ies") else stem.removesuffix("s")
        for column in columns:
            own = column["name"]
            means = {own: own} | {f"{one}_{key}".lower(): key for key in map(str, other.columns) for one in (stem, singular)}
            key = own if own in other.columns else means.get(own.lower())
            if key not in other.columns or not column["distinct"]:
                continue
            theirs = other[key].dropna()
            if theirs.is_unique and len(theirs):
                missing = int((~rows[own].dropna().isin(theirs)).sum())
                found.append({"column": own, "table": name, "other": key, "missing": missing})
    return found


rows = frame(inputs["table"])
rows.columns = [str(name) for name in rows.columns]
columns = [column_profile(rows[name]) for name in rows.columns[:COLUMNS_MAX]]
result = {
    "status": "PASS",
    "summary": f"looked at {len(rows)} rows",
    "profile": {
        "table": inputs["table"],
        "rows": len(rows),
        "columns": columns,
        "ordered": ordered_pairs(rows, columns),
        "references": references_of(rows, columns),
    },
}
