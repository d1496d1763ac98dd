# name: tables_forged_diff
# class: channel
# tries: take the record of what was changed away, by patching the table interface and by leaving a diff of its own
# expected: the host's diff is the host's
# outcome: ok
# after: writes-complete,result-not-forged
# oracle: host
import tinydb.table
tinydb.table.Table.insert = lambda *a, **k: 1
type(sales_tbl).insert = lambda *a, **k: 1
sales_tbl.update({"amount": -5.0}, where("sale_id") == "S1")
diff = {"sales": {"added": [], "changed": [], "removed": []}}
(artifacts / "diff.json").write_text("{}")
print("MADE")
