"""The workspace's tables as a plan sees them: TinyDB's table interface over calls to the host.

A plan builds conditions with TinyDB's own `Query`, here one that also records what it tests. The host narrows the
rows down with what it can express; where that is not the very meaning the condition has in Python, the condition
itself decides here, row by row. Every write is a call, so the host sees each one, whatever a plan does to the names
in this module.
"""

import contextlib
import copy
import datetime
import decimal
import io
import math
import operator

import tinydb
import tinydb.queries
import tinydb.table

Document = tinydb.table.Document
# Rows that one call writes at most; larger writes are several calls in the same transaction.
BATCH_ROWS = 1000
PYTHON = {"op": "python"}


# --- conditions ------------------------------------------------------------------------------------------------------


class Instance(tinydb.queries.QueryInstance):
    """A test on a row that also knows how the host could express it."""

    def __init__(self, test, hashval, condition=None):
        super().__init__(test, hashval)
        self.condition = condition or PYTHON

    def __and__(self, other):
        return Instance(lambda value: self(value) and other(value), None, joined("and", self, other))

    def __or__(self, other):
        return Instance(lambda value: self(value) or other(value), None, joined("or", self, other))

    def __invert__(self):
        return Instance(lambda value: not self(value), None, {"op": "not", "of": condition_of(self)})

    def __hash__(self):
        return super().__hash__()


class Query(tinydb.queries.Query):
    """TinyDB's query builder, recording what it builds."""

    def _record(self, instance, operation, **arguments):
        path = list(self._path)
        condition = PYTHON
        if all(type(part) is str for part in path):
            try:
                condition = {"op": operation, "path": path, **{key: exact(value) for key, value in arguments.items()}}
            except ValueError:
                condition = PYTHON
        return Instance(instance._test, instance._hash, condition)

    def _exactly(self, instance, compare, other):
        """The test, with decimals compared as they are written: 0.1 is a tenth beside one."""
        if type(other) not in (float, decimal.Decimal):
            return instance
        return self._generate_test(lambda value: compare(*written(value, other)), instance._hash)

    def __eq__(self, other):
        return self._record(self._exactly(super().__eq__(other), operator.eq, other), "eq", value=other)

    def __ne__(self, other):
        return self._record(self._exactly(super().__ne__(other), operator.ne, other), "ne", value=other)

    def __lt__(self, other):
        return self._record(comparable(self._exactly(super().__lt__(other), operator.lt, other)), "lt", value=other)

    def __le__(self, other):
        return self._record(comparable(self._exactly(super().__le__(other), operator.le, other)), "le", value=other)

    def __gt__(self, other):
        return self._record(comparable(self._exactly(super().__gt__(other), operator.gt, other)), "gt", value=other)

    def __ge__(self, other):
        return self._record(comparable(self._exactly(super().__ge__(other), operator.ge, other)), "ge", value=other)

    def __hash__(self):
        return super().__hash__()

    def exists(self):
        return self._record(super().exists(), "exists")

    def matches(self, regex, flags=0):
        return self._record(super().matches(regex, flags), "regex")

    def search(self, regex, flags=0):
        return self._record(super().search(regex, flags), "regex")

    def test(self, func, *args):
        instance = super().test(func, *args)
        return Instance(instance._test, instance._hash)

    def any(self, cond):
        instance = super().any(cond)
        if callable(cond):
            return self._record(instance, "sequence")
        return self._record(instance, "any_of", values=listed(cond))

    def all(self, cond):
        instance = super().all(cond)
        if callable(cond):
            return self._record(instance, "sequence")
        return self._record(instance, "all_of", values=listed(cond))

    def one_of(self, items):
        items = items if isinstance(items, (list, tuple, set, frozenset, dict, range, str)) else list(items)
        instance = super().one_of(items)
        if not isinstance(items, (range, str)) and any(type(item) in (float, decimal.Decimal) for item in items):
            among = lambda value: any(operator.eq(*written(value, item)) for item in items)
            instance = self._generate_test(among, instance._hash)
        return self._record(instance, "one_of", values=listed(items))

    def fragment(self, document):
        return self._record(super().fragment(document), "fragment", value=document)

    def noop(self):
        instance = super().noop()
        return Instance(instance._test, instance._hash, {"op": "noop"})

    def __and__(self, other):
        return Instance(lambda value: self(value) and other(value), None, PYTHON)

    def __or__(self, other):
        return Instance(lambda value: self(value) or other(value), None, PYTHON)

    def __invert__(self):
        return Instance(lambda value: not self(value), None, PYTHON)


def comparable(instance):
    """An ordering that Python cannot make, such as `None < 3`, does not hold; the store sees it the same way."""

    def test(value):
        try:
            return instance(value)
        except (TypeError, decimal.InvalidOperation):
            return False

    return Instance(test, instance._hash)


def where(key):
    """A shorthand for `Query()[key]`."""
    return Query()[key]


def condition_of(cond):
    """What the host is told of a condition; any callable is one, and then only Python can decide."""
    condition = getattr(cond, "condition", None)
    return condition if type(cond) is Instance and condition else PYTHON


def joined(operation, left, right):
    return {"op": operation, "of": [condition_of(left), condition_of(right)]}


def listed(items):
    """The items of a collection; a value that cannot be expressed where being in it means more than that."""
    return list(items) if isinstance(items, (list, tuple, set, frozenset, range)) else object()


def exact(value):
    """A value that means the same in JSON, or ValueError."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int and -(1 << 63) <= value < 1 << 63:
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind is decimal.Decimal and value.is_finite() and decimal.Decimal(repr(float(value))) == value:
        return float(value)
    if kind is list:
        return [exact(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: exact(item) for key, item in value.items()}
    raise ValueError("only Python knows this value")


def written(one, other):
    """Both values as they are compared: a float beside a decimal is the decimal that is written like it."""
    if type(one) is decimal.Decimal and type(other) is float:
        return one, decimal.Decimal(repr(other))
    if type(one) is float and type(other) is decimal.Decimal:
        return decimal.Decimal(repr(one)), other
    return one, other


# --- values ----------------------------------------------------------------------------------------------------------


def plain(value):
    """A value as it is stored. What JSON has no word for is written in the usual way, or refused."""
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        if is_wide(value):
            raise ValueError(f"{str(value)[:40]} cannot be stored; whole numbers have at most 64 bits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be stored; use None where a number is missing")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys of a nested object must be text")
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} cannot be stored; use None where a number is missing")
        return plain(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, (bool, int, str)):
        return next(kind for kind in (bool, int, str) if isinstance(value, kind))(value)
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return plain(value.item())
    raise TypeError(f"a {type(value).__name__} cannot be stored")


def is_wide(value):
    return not -(1 << 63) <= value < 1 << 63


def names_of(document):
    if not hasattr(document, "keys"):
        raise ValueError("Document is not a Mapping")
    if not all(isinstance(key, str) for key in document):
        raise TypeError("the names of columns must be text")
    return [str(key) for key in document]


# --- tables ----------------------------------------------------------------------------------------------------------


class Table:
    """One table, with TinyDB's interface."""

    def __init__(self, call, name):
        self._call = call
        self._name = name
        self._decimals = None

    @property
    def name(self):
        return self._name

    def __repr__(self):
        return f"<Table {self._name!r}>"

    # Reading.

    def all(self):
        return list(self)

    def search(self, cond):
        return list(self._found(cond))

    def get(self, cond=None, doc_id=None, doc_ids=None):
        if doc_id is not None:
            return next(iter(self._by_id([doc_id])), None)
        if doc_ids is not None:
            return self._by_id(doc_ids)
        if cond is not None:
            return next(self._found(cond, first=True), None)
        raise RuntimeError("You have to pass either cond or doc_id or doc_ids")

    def contains(self, cond=None, doc_id=None):
        if doc_id is not None:
            return self.get(doc_id=doc_id) is not None
        if cond is not None:
            return self.get(cond) is not None
        raise RuntimeError("You have to pass either cond or doc_id")

    def count(self, cond):
        reply = self._ask("count", where=condition_of(cond))
        return reply["count"] if reply["exact"] else sum(1 for _ in self._found(cond))

    def __len__(self):
        return self._ask("count")["count"]

    def __iter__(self):
        return self._found(None)

    # Writing.

    def insert(self, document):
        return self.insert_multiple([document])[0]

    def insert_multiple(self, documents):
        documents = list(documents)
        rows = [self._plain_row(document) for document in documents]
        ids = [document.doc_id if isinstance(document, Document) else None for document in documents]
        inserted = []
        for at in range(0, len(rows), BATCH_ROWS):
            some = slice(at, at + BATCH_ROWS)
            given = {"doc_ids": ids[some]} if any(one is not None for one in ids[some]) else {}
            inserted += self._ask("insert", rows=rows[some], **given)["doc_ids"]
        return inserted

    def update(self, fields, cond=None, doc_ids=None):
        if callable(fields):
            return self._update_each([(fields, cond)], doc_ids)
        fields = self._plain_row(fields)
        if doc_ids is not None:
            return self._ask("update", doc_ids=list(doc_ids), set=fields)["doc_ids"]
        target = {"all": True} if cond is None else {"where": condition_of(cond)}
        reply = self._ask("update", set=fields, **target)
        if reply["exact"]:
            return reply["doc_ids"]
        return self._in_batches("update", [row.doc_id for row in self._found(cond)], set=fields)

    def update_multiple(self, updates):
        return self._update_each(list(updates), None)

    def upsert(self, document, cond=None):
        doc_ids = [document.doc_id] if isinstance(document, Document) else None
        if doc_ids is None and cond is None:
            raise ValueError("If you don't specify a search query, you must specify a doc_id.")
        return self.update(document, cond, doc_ids) or [self.insert(document)]

    def remove(self, cond=None, doc_ids=None):
        if doc_ids is not None:
            return self._ask("remove", doc_ids=list(doc_ids))["doc_ids"]
        if cond is None:
            raise RuntimeError("Use truncate() to remove all documents")
        reply = self._ask("remove", where=condition_of(cond))
        if reply["exact"]:
            return reply["doc_ids"]
        return self._in_batches("remove", [row.doc_id for row in self._found(cond)])

    def truncate(self):
        self._ask("remove", all=True)

    def clear_cache(self):
        """TinyDB keeps a cache of queries; here there is none."""

    # The calls underneath.

    @staticmethod
    def _values(page, row):
        return values_of(page, row)

    def _plain_row(self, document):
        return {name: self._plain(name, document[name]) for name in names_of(document)}

    def _plain(self, name, value):
        """A value as it is stored; a column of decimals takes every digit, as text."""
        if isinstance(value, decimal.Decimal) or type(value) is int and is_wide(value):
            if self._decimals is None:
                tables = self._call("table.tables")["tables"]
                columns = next((table["columns"] for table in tables if table["name"] == self._name), [])
                self._decimals = {column for column, holds in columns if holds == "decimal"}
            if name in self._decimals and decimal.Decimal(value).is_finite():
                return str(value)
        return plain(value)

    def _ask(self, operation, **arguments):
        return self._call("table." + operation, table=self._name, **arguments)

    def _pages(self, condition, first=False):
        """Pages of rows as the table was at the first of them, whatever is written meanwhile."""
        place = {}
        limit = {"limit": 1} if first else {}
        while True:
            page = self._ask("search", **({"where": condition} if condition else {}), **place, **limit)
            yield page
            if not page["more"]:
                return
            place = {"after": page["last"], "as_of": page["as_of"]}
            limit = {}

    def _found(self, cond, first=False):
        condition = None if cond is None else condition_of(cond)
        for page in self._pages(condition, first):
            decided = cond is None or page["exact"]
            for row in page["rows"]:
                document = made(page, row)
                if decided or cond(document):
                    yield document

    def _by_id(self, doc_ids):
        page = self._ask("get", doc_ids=[int(one) for one in doc_ids])
        return [made(page, row) for row in page["rows"]]

    def _in_batches(self, operation, doc_ids, **arguments):
        done = []
        for at in range(0, len(doc_ids), BATCH_ROWS):
            done += self._ask(operation, doc_ids=doc_ids[at : at + BATCH_ROWS], **arguments)["doc_ids"]
        return done

    def _update_each(self, updates, doc_ids):
        """Updates that only Python can make. All are worked out before the first is written."""
        changes, updated = [], []
        one = updates[0][1] if len(updates) == 1 else None
        for row in self._by_id(doc_ids) if doc_ids is not None else self._found(one):
            # A change may reach into nested values, so the copy is deep.
            before, after = dict(row), copy.deepcopy(dict(row))
            for change, cond in updates:
                if doc_ids is None and cond is not None and not (cond is one or cond(after)):
                    continue
                updated.append(row.doc_id)
                change(after) if callable(change) else after.update(change)
            new = {key: self._plain(key, after[key]) for key in after if key not in before or differs(before[key], after[key])}
            gone = [key for key in before if key not in after]
            if new or gone:
                changes.append({"doc_id": row.doc_id, "set": new, "unset": gone})
        for at in range(0, len(changes), BATCH_ROWS):
            self._ask("update_rows", rows=changes[at : at + BATCH_ROWS])
        return updated


def differs(before, after):
    """Whether a value changed; 1, 1.0 and True are equal in Python but not the same in a table."""
    # NaN is the same as itself here.
    return before is not after and (type(before) is not type(after) or before != after)


def values_of(page, row):
    """A row's values, with the type of their columns."""
    values = row[1]
    for at in page.get("decimals", ()):
        values[at] = decimal_of(values[at])
    return values


def decimal_of(value):
    return value if value is None else decimal.Decimal(str(value))


def made(page, row):
    doc_id, values = row[0], values_of(page, row)
    if len(row) == 2:
        return Document(zip(page["columns"], values), doc_id)
    absent = set(row[2])
    fields = {name: value for at, (name, value) in enumerate(zip(page["columns"], values)) if at not in absent}
    return Document(fields, doc_id)


class Database:
    """The workspace's tables together."""

    def __init__(self, call, tables):
        self._call = call
        self._tables = tables
        self._is_acting = False

    def table(self, name):
        if name not in self._tables:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(sorted(self._tables))}")
        return self._tables[name]

    def tables(self):
        return set(self._tables)

    def act(self, name, function, args, named):
        """Runs an action of the workspace in this transaction: in a cell of its own, or here if the host says so."""
        if self._is_acting:
            return function(*args, **named)
        params = dict(zip(function.__code__.co_varnames, args)) | named
        reply = self._call("action.run", name=str(name), params=plain(params))
        if "result" in reply:
            return reply["result"]
        self._is_acting = True
        try:
            # As in a cell of its own, what it prints is not part of the answer.
            with contextlib.redirect_stdout(io.StringIO()):
                done = {"result": plain(function(**reply["params"]))}
        except Exception as error:
            done = {"error": f"{type(error).__name__}: {str(error)[:1000]}"}
        finally:
            self._is_acting = False
        return self._call("action.done", **done)

    def tool(self, tool, verb, arguments):
        """Calls a tool outside of the tables; one that changes something gives a handle, and is sent after the commit."""
        return self._call("tool.call", tool=str(tool), verb=str(verb), arguments=plain(arguments))

    def next_id(self, table):
        """A key for a new row of a table, in the form of its other keys; no key is given twice."""
        return self._call("table.next_id", table=table.name if isinstance(table, Table) else str(table))["key"]

    def query(self, sql, params=()):
        """Rows that one SELECT finds, in this transaction, as dictionaries."""
        params = plain(dict(params) if hasattr(params, "keys") else list(params))
        found = self._call("table.query", sql=str(sql), params=params)
        for name in found.get("decimals", ()):
            for row in found["rows"]:
                row[name] = decimal_of(row[name])
        return found["rows"]


def bind(call, tables):
    """What a plan finds set: `db`, one `<name>_tbl` for each table, `Query` and `where`."""
    bound = {f"{name}_tbl": table for name, table in tables.items()}
    return bound | {"db": Database(call, tables), "Query": Query, "where": where}


def install():
    """Has `from tinydb import Query` give the recording query as well."""
    for module in (tinydb, tinydb.queries):
        module.Query, module.where = Query, where
