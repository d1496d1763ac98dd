"""The verifier's peer: the same kind of checks, written with Python's own `ast`.

Reads a program from stdin. With `--once` it checks it a single time and says what it found; otherwise it checks
it again and again and prints the median time in milliseconds.
"""

import ast
import json
import sys
import time

SCHEMA = {
    "inventory": {"item_id", "name", "description", "quantity_in_stock", "price"},
    "transactions": {
        "transaction_id",
        "customer_name",
        "transaction_summary",
        "transaction_amount",
        "balance_after_transaction",
        "timestamp",
    },
}
COLUMNS = set().union(*SCHEMA.values())
ALLOWED = set(sys.stdlib_module_names) | {"tinydb", "pandas", "numpy"}
BLOCKED = {"socket", "subprocess", "pickle", "ctypes", "importlib", "multiprocessing", "builtins", "marshal", "http"}
CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint", "globals", "locals", "vars"}
DUNDERS = {"__class__", "__bases__", "__subclasses__", "__globals__", "__code__", "__builtins__", "__mro__"}
GIVEN = {"user_request", "db", "Query", "where", "files", "frame", "inputs", "artifacts"}
GIVEN |= {f"{table}_tbl" for table in SCHEMA} | {"get_current_balance", "next_transaction_id"} | set(dir(__builtins__))


class Bound(ast.NodeVisitor):
    def __init__(self):
        self.names = set(GIVEN)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_arg(self, node):
        self.names.add(node.arg)

    def visit_alias(self, node):
        self.names.add((node.asname or node.name).split(".")[0])

    def visit_FunctionDef(self, node):
        self.names.add(node.name)
        self.generic_visit(node)

    visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)


class Check(ast.NodeVisitor):
    def __init__(self, names):
        self.names = names
        self.found = []
        self.queries = set()
        self.rows = set()
        self.effects = {"reads": set(), "writes": set(), "imports": set()}

    def add(self, node, code):
        self.found.append((node.lineno, node.col_offset + 1, code))

    def visit_Import(self, node):
        for alias in node.names:
            self.module(node, alias.name)

    def visit_ImportFrom(self, node):
        self.module(node, node.module or "")
        if any(alias.name == "*" for alias in node.names):
            self.add(node, "star-import")

    def module(self, node, name):
        self.effects["imports"].add(name)
        top = name.split(".")[0]
        if top in BLOCKED:
            self.add(node, "blocked-import")
        elif top not in ALLOWED:
            self.add(node, "unknown-import")

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            if node.id in CALLS:
                self.add(node, "blocked-call")
            elif node.id not in self.names:
                self.add(node, "undefined-name")

    def visit_Attribute(self, node):
        if node.attr in DUNDERS:
            self.add(node, "dunder-access")
        if isinstance(node.value, ast.Name) and node.value.id in self.queries:
            self.column(node, node.attr)
        self.generic_visit(node)

    def visit_Assign(self, node):
        value = node.value
        if isinstance(value, ast.Call):
            function = value.func
            for target in node.targets:
                if isinstance(target, ast.Name):
                    if isinstance(function, ast.Name) and function.id == "Query":
                        self.queries.add(target.id)
                    elif isinstance(function, ast.Attribute) and function.attr in {"get", "search", "all"}:
                        self.rows.add(target.id)
        self.generic_visit(node)

    def visit_For(self, node):
        if isinstance(node.target, ast.Name) and isinstance(node.iter, (ast.Name, ast.Call)):
            name = node.iter.id if isinstance(node.iter, ast.Name) else None
            if name in self.rows or isinstance(node.iter, ast.Call):
                self.rows.add(node.target.id)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.rows:
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                self.column(node, node.slice.value)
        self.generic_visit(node)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "where" and node.args:
            if isinstance(node.args[0], ast.Constant):
                self.column(node, node.args[0].value)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            table = function.value.id.removesuffix("_tbl")
            if table in SCHEMA:
                self.table_call(table, function.attr, node)
        self.generic_visit(node)

    def table_call(self, table, method, node):
        if method in {"insert", "update", "upsert", "remove"}:
            self.effects["writes"].add(table)
            if node.args and isinstance(node.args[0], ast.Dict):
                for key in node.args[0].keys:
                    if isinstance(key, ast.Constant) and key.value not in SCHEMA[table]:
                        self.add(key, "unknown-column")
        else:
            self.effects["reads"].add(table)

    def column(self, node, name):
        if name not in COLUMNS:
            self.add(node, "unknown-column")


def sets(body, name):
    """Whether every path through the statements sets the name."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.Assign):
            targets = [leaf for target in statement.targets for leaf in ast.walk(target)]
            if any(isinstance(leaf, ast.Name) and leaf.id == name for leaf in targets):
                return True
        if isinstance(statement, ast.If):
            if statement.orelse and sets(statement.body, name) and sets(statement.orelse, name):
                return True
        if isinstance(statement, ast.Try):
            if sets(statement.finalbody, name):
                return True
            if sets(statement.body, name) and all(sets(handler.body, name) for handler in statement.handlers):
                return True
    return False


def check(source):
    tree = ast.parse(source)
    bound = Bound()
    bound.visit(tree)
    walk = Check(bound.names)
    walk.visit(tree)
    for name in ("answer_text", "STATUS"):
        if not sets(tree.body, name):
            walk.found.append((1, 1, f"missing {name}"))
    return walk.found


def main():
    source = sys.stdin.read()
    if "--once" in sys.argv:
        print(json.dumps(check(source)))
        return
    rounds = int(sys.argv[1])
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        check(source)
        times.append(time.perf_counter() - start)
    times.sort()
    print(json.dumps({"p50_ms": times[len(times) // 2] * 1000, "found": check(source)}))


main()
