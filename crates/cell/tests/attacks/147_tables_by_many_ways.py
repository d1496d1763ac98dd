# name: tables_by_many_ways
# class: channel
# tries: change rows through the tables, through the module below them, from a thread, and twice over
# expected: every change is in the diff, whichever way it was made
# outcome: ok
# after: writes-complete,next-cell-clean
# oracle: host
import threading
import ordain
inventory_tbl.update({"price": 1.0}, where("item_id") == "SG001")
inventory_tbl.update({"price": 2.0}, where("item_id") == "SG001")
worker = threading.Thread(target=lambda: sales_tbl.insert({"sale_id": "S2", "amount": 1.5})); worker.start(); worker.join()
print("INFO", ordain.call("table.update", table="inventory", doc_ids=[2], set={"stock": 77}))
inventory_tbl.insert({"item_id": "SG900", "name": "gone again", "price": 3.0, "stock": 1})
inventory_tbl.remove(where("item_id") == "SG900")
print("MADE")
