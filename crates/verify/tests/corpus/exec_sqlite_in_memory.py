import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("CREATE TABLE t (a INTEGER)")
connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
print(connection.execute("SELECT SUM(a) FROM t").fetchone())
