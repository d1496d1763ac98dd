import json


def flatten(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{prefix}{key}.")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from flatten(inner, f"{prefix}{index}.")
    else:
        yield prefix.rstrip("."), value


with open(files["config.json"]) as file:
    document = json.load(file)
rows = list(flatten(document))
(artifacts / "flat.json").write_text(json.dumps(dict(rows), indent=2))
answer_text = f"{len(rows)} values."
STATUS = "success"
