import re
from collections import Counter

text = open(files["notes.txt"], encoding="utf-8").read()
words = Counter(re.findall(r"[a-z']+", text.lower()))
for word, count in words.most_common(10):
    print(f"{word:<12}{count}")
