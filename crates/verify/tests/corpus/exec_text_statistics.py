"""Counts letters, words and lines of whatever files are given."""
from collections import Counter

totals = Counter()
for name in sorted(files):
    try:
        text = open(files[name], encoding="utf-8", errors="replace").read()
    except OSError as error:
        print(f"{name}: {error.__class__.__name__}")
        continue
    counts = Counter(lines=text.count("\n"), words=len(text.split()), letters=sum(map(str.isalpha, text)))
    totals.update(counts)
    print(name, dict(counts))
print("all", dict(totals))
