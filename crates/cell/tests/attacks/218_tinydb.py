# name: tinydb
# class: allowed
# tries: tinydb in memory and in a file, with conditions and operations
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: 1 [{'name': 'a', 'n': 2}]
from tinydb import Query, TinyDB
from tinydb.operations import increment
from tinydb.storages import MemoryStorage
db = TinyDB(storage=MemoryStorage); db.insert_multiple([{"name": "a", "n": 1}, {"name": "b", "n": 5}])
db.update(increment("n"), Query().name == "a")
TinyDB("local.json").insert({"x": 1})
print(db.count(Query().n < 5), db.search(Query().n < 5))
