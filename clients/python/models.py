"""Writes `src/ordain/_models.py`: the replies of a server as types, made from its OpenAPI document.

    python models.py < openapi.json > src/ordain/_models.py
"""

from __future__ import annotations

import json
import keyword
import sys
from typing import Any

#: What the package reads; whatever these refer to is written too.
ROOTS = ["RunRecord", "RunPage", "CheckReport", "TableList", "Rows", "Events", "Problem"]


def main() -> None:
    sys.stdout.write(written(json.load(sys.stdin)))


def written(document: dict[str, Any]) -> str:
    """The module for a document."""
    schemas = document["components"]["schemas"]
    names: list[str] = []
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.append(name)
            waiting.extend(_references(schemas[name]))
    head = (
        '"""The replies of a server, as types. Made by `models.py` from the OpenAPI document; not edited by hand."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n"
    )
    return head + "".join(_definition(name, schemas[name]) for name in sorted(names))


def _definition(name: str, schema: dict[str, Any]) -> str:
    properties = schema.get("properties")
    if not properties:
        return f"\n\n{_doc(schema)}{name}: TypeAlias = {_type(schema)!r}\n"
    fields = {field: _field(field, value, schema) for field, value in sorted(properties.items())}
    if all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
        lines = "".join(f"    {field}: {kind}\n" for field, kind in fields.items())
        return f"\n\nclass {name}(TypedDict):\n    {_text(schema)}\n\n{lines}"
    lines = "".join(f'    "{field}": {kind!r},\n' for field, kind in fields.items())
    return f'\n\n{_doc(schema)}{name} = TypedDict("{name}", {{\n{lines}}})\n'


def _field(name: str, schema: dict[str, Any], owner: dict[str, Any]) -> str:
    kind = _type(schema)
    return kind if name in owner.get("required", []) else f"NotRequired[{kind}]"


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "Any"
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    for many in ("anyOf", "oneOf"):
        if many in schema:
            kinds = list(dict.fromkeys(_type(one) for one in schema[many]))
            words = [kind[len("Literal["):-1] for kind in kinds if kind.startswith("Literal[")]
            return f"Literal[{', '.join(words)}]" if len(words) == len(kinds) else " | ".join(kinds)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not kinds:
        return "Any"
    return " | ".join(_plain(kind, schema) for kind in kinds)


def _plain(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"dict[str, {_type(values) if isinstance(values, dict) else 'Any'}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        found = [str(schema["$ref"]).rsplit("/", 1)[1]] if "$ref" in schema else []
        return found + [name for value in schema.values() for name in _references(value)]
    return [name for value in schema for name in _references(value)] if isinstance(schema, list) else []


def _text(schema: dict[str, Any]) -> str:
    words = " ".join(str(schema.get("description", "")).split())
    return f'"""{words}"""'


def _doc(schema: dict[str, Any]) -> str:
    words = " ".join(str(schema.get("description", "")).split())
    return f"#: {words}\n" if words else ""


if __name__ == "__main__":
    main()
