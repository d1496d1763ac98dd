from tinydb import operations as ops

ACTION = "mutate"
customers_tbl.update(ops.delete("city"), where("customer_id") == 7)
customers_tbl.update(ops.set("is_member", False), where("customer_id") == 7)
answer_text = "Customer 7 is no longer a member."
STATUS = "success"
