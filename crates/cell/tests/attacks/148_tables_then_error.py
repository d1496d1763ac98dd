# name: tables_then_error
# class: state
# tries: change and remove rows, then fail before the end
# expected: nothing of it is kept
# outcome: error
# after: data-unchanged,writes-complete,next-cell-clean
# oracle: host
inventory_tbl.update({"stock": 999})
sales_tbl.truncate()
raise RuntimeError("after the writes")
