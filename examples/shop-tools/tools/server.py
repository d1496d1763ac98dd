"""A small MCP server: JSON messages, one a line, over stdin and stdout. Python's standard library is enough."""

import json
import sys

VERSION = "2025-11-25"


def verb(description, arguments, needed=None):
    """Describes a verb: its arguments are strings."""
    properties = {name: {"type": "string"} for name in arguments}
    schema = {"type": "object", "properties": properties, "required": needed or list(arguments)}
    return {"description": description, "inputSchema": schema}


def answer(message, name, verbs, call):
    """The result of one request."""
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        server = {"name": name, "version": "1"}
        return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [{"name": name, **about} for name, about in verbs.items()]}
    if method == "tools/call":
        key = params.get("_meta", {}).get("idempotencyKey")
        try:
            given = call(params["name"], params.get("arguments", {}), key)
        except ValueError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        return {"content": [{"type": "text", "text": json.dumps(given)}], "structuredContent": given}
    raise LookupError(method)


def serve(name, verbs, call):
    """Answers until stdin ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message, name, verbs, call)
        except LookupError as error:
            reply["error"] = {"code": -32601, "message": f"there is no {error}"}
        print(json.dumps(reply), flush=True)


class Kept:
    """A file with one JSON object a line. The same key is kept once."""

    def __init__(self, path):
        self.path = path

    def all(self):
        """Everything that was kept."""
        try:
            with open(self.path, encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            return []

    def add(self, key, item):
        """Keeps an item, unless its key has been kept before; gives the one that is kept."""
        kept = self.all()
        for known in kept:
            if key is not None and known["key"] == key:
                return known
        item = {"id": str(len(kept) + 1), "key": key, **item}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(item) + "\n")
        return item
