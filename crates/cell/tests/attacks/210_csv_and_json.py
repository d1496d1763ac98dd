# name: csv_and_json
# class: allowed
# tries: write CSV and JSON artifacts with negative numbers, quotes and other alphabets
# expected: collected without a warning
# outcome: ok
# after: artifacts-refused,artifact-names-safe,active-content-flagged
# oracle: inband
# prints: Ä;ß 漢字 -4.5
import csv, json
with open(artifacts / "Ergebnis (1).csv", "w", newline="") as f: csv.writer(f).writerows([["name", "value"], ["Ä;ß 漢字", -4.5], ["a, \"b\"", "+3"]])
json.dump({"a": [1, None, True]}, open(artifacts / "out.json", "w"))
print(" ".join(list(csv.reader(open(artifacts / "Ergebnis (1).csv")))[1]))
