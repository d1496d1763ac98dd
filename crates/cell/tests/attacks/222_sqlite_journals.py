# name: sqlite_journals
# class: allowed
# tries: sqlite3 in a file of the work folder with a write-ahead log and with two connections
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: wal [(2,)]
import sqlite3
one = sqlite3.connect("wal.db"); mode = one.execute("pragma journal_mode=wal").fetchone()[0]
one.execute("create table t (a)"); one.execute("insert into t values (1)"); one.commit()
two = sqlite3.connect("wal.db"); two.execute("insert into t values (2)"); two.commit()
print(mode, one.execute("select count(*) from t").fetchall())
