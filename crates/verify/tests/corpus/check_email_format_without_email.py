import re

people = customers_tbl.all()
pattern = re.compile(r"^[A-Z][\w' -]+$")
odd = [person["customer_id"] for person in people if not pattern.match(person["name"] or "")]
result = {"status": "FAIL" if odd else "PASS", "summary": f"odd names: {odd[:10]}"}
