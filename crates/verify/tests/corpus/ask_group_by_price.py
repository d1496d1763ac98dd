from collections import defaultdict

bands = defaultdict(list)
for row in inventory_tbl:
    bands[int(row["price"] // 50) * 50].append(row)
lines = []
for start in sorted(bands):
    members = bands[start]
    lines.append(f"${start}-{start + 49}: " + ", ".join(m["name"] for m in members))
answer_text = "; ".join(lines)
STATUS = "success" if lines else "no_match"
