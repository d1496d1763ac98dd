# 1) Nothing to look up.
answer_text = "Hello! Ask me about sunglasses."
STATUS = "unsupported_intent"
