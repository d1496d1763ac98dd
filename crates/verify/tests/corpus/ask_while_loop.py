request = user_request.lower()
position = 0
found = []
while position < len(request):
    end = request.find(" ", position)
    end = len(request) if end < 0 else end
    word = request[position:end]
    if inventory_tbl.contains(where("name") == word.title()):
        found.append(word.title())
    position = end + 1
answer_text = ", ".join(found) or "I found no style in your request."
STATUS = "success" if found else "no_match"
