# name: sqlite
# class: allowed
# tries: sqlite3 in memory and in a file of the work folder, with a journal
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: [(6,)] [(6,)]
import sqlite3
def total(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a)"); connection.executemany("insert into t values (?)", [(1,), (2,), (3,)])
        return connection.execute("select sum(a) from t").fetchall()
print(total(":memory:"), total("local.db"))
