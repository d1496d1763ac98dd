import re

city_match = re.search(r"in ([A-Z]\w+)", user_request)
if city_match is None:
    answer_text = "Which city?"
    STATUS = "invalid_request"
else:
    city = city_match.group(1)
    people = customers_tbl.search(where("city") == city)
    members = [person for person in people if person["is_member"]]
    answer_text = f"{len(people)} customers in {city}, {len(members)} of them members."
    STATUS = "success" if people else "no_match"
