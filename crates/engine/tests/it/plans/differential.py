# Runs random queries and updates on the store's table and on TinyDB itself, and compares.
import copy
import random
import re

import tinydb.operations as ops
from tinydb import TinyDB
from tinydb.storages import MemoryStorage
from tinydb.table import Document

dice = random.Random(SEED)
mirror_db = TinyDB(storage=MemoryStorage)
mirror = mirror_db.table("inventory")
for row in inventory_tbl.all():
    mirror.insert(Document(copy.deepcopy(dict(row)), row.doc_id))

different = []
compared = 0


def same(left, right):
    return sorted((row.doc_id, sorted(dict(row).items(), key=repr)) for row in left) == sorted(
        (row.doc_id, sorted(dict(row).items(), key=repr)) for row in right
    )


def leaf():
    Q = Query()
    kind = dice.randrange(22)
    number = dice.choice([0, 1, 3, 5, 7.5, -2, 10**20, True])
    if kind == 0: return f"name == {dice.choice(['Aviator', 'Round', 'nothing', '', 'Straße'])!r}"
    if kind == 1: return f"quantity_in_stock == {number!r}"
    if kind == 2: return f"quantity_in_stock != {number!r}"
    if kind == 3: return f"quantity_in_stock > {number!r}"
    if kind == 4: return f"price <= {number!r}"
    if kind == 5: return f"price >= {number!r}"
    if kind == 6: return f"active == {dice.choice([True, False, 1, 0])!r}"
    if kind == 7: return "note.exists()"
    if kind == 8: return "note == None"
    if kind == 9: return "note != None"
    if kind == 10: return f"name.one_of({dice.sample(['Aviator', 'Classic', 'x', ''], 2)!r})"
    if kind == 11: return "name.search('round')"
    if kind == 12: return "name.search('ROUND', re.I)"
    if kind == 13: return "name.matches('[A-C]')"
    if kind == 14: return f"tags.any({dice.sample(['a', 'b', 'c', 'd', 'z'], 2)!r})"
    if kind == 15: return f"tags.all({dice.sample(['a', 'b', 'c'], 2)!r})"
    if kind == 16: return f"size.w == {dice.randrange(4)}"
    if kind == 17: return "size.kind.deep == True"
    if kind == 18: return f"size.fragment({{'w': {dice.randrange(4)}, 'h': {dice.randrange(6)}}})"
    if kind == 19: return f"price.test(lambda value: value > {dice.randrange(100)})"
    if kind == 20: return f"quantity_in_stock.map(lambda value: value * 2) == {2 * dice.randrange(11)}"
    return f"size == {{'w': {dice.randrange(4)}, 'h': {dice.randrange(6)}, 'kind': {{'deep': True}}}}"


def condition(depth):
    if depth == 0 or dice.random() < 0.4:
        return "Q." + leaf()
    kind = dice.randrange(3)
    if kind == 0: return f"({condition(depth - 1)}) & ({condition(depth - 1)})"
    if kind == 1: return f"({condition(depth - 1)}) | ({condition(depth - 1)})"
    return f"~({condition(depth - 1)})"


def built(text):
    # Only text that this program itself made; the verifier's eyes are on the plan, the jail's on all of it.
    import builtins
    return getattr(builtins, "eval")(text, {"Q": Query(), "re": re})


for _ in range(150):
    text = condition(2)
    cond = built(text)
    compared += 4
    if not same(inventory_tbl.search(cond), mirror.search(cond)):
        different.append(["search", text])
    if inventory_tbl.count(cond) != mirror.count(cond):
        different.append(["count", text])
    if inventory_tbl.contains(cond) != mirror.contains(cond):
        different.append(["contains", text])
    one, other = inventory_tbl.get(cond), mirror.get(cond)
    if (one and one.doc_id) != (other and other.doc_id):
        different.append(["get", text])

for _ in range(40):
    text = condition(1)
    cond = built(text)
    act = dice.randrange(6)
    if act == 0: change = lambda table: table.update({"quantity_in_stock": 4}, cond)
    elif act == 1: change = lambda table: table.update(ops.increment("quantity_in_stock"), cond)
    elif act == 2: change = lambda table: table.update(ops.add("price", 2.5), cond)
    elif act == 3: change = lambda table: table.remove(cond) if dice.random() < 0 else table.update({"note": "new"}, cond)
    elif act == 4: change = lambda table: table.update(lambda row: row["tags"].append("z"), cond)
    else: change = lambda table: table.upsert({"name": "Upserted", "item_id": f"U{compared}", "quantity_in_stock": 1, "price": 2.0, "tags": []}, Query().item_id == f"U{compared}")
    compared += 2
    ours, theirs = change(inventory_tbl), change(mirror)
    if sorted(ours) != sorted(theirs):
        different.append(["updated", act, text, sorted(ours)[:5], sorted(theirs)[:5]])
    if not same(inventory_tbl.all(), mirror.all()):
        different.append(["rows", act, text])
        break

gone = Query().quantity_in_stock == 4
if sorted(inventory_tbl.remove(gone)) != sorted(mirror.remove(gone)) or not same(inventory_tbl.all(), mirror.all()):
    different.append(["remove"])
if len(inventory_tbl) != len(mirror):
    different.append(["len"])

answer_json = {"compared": compared, "different": different[:20]}
answer_text = "Compared."
STATUS = "success"
