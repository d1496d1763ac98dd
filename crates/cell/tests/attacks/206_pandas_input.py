# name: pandas_input
# class: allowed
# tries: read the input with pandas, group, pivot, and write CSV, JSON, Parquet and Excel
# expected: works; every file is collected under its type
# outcome: ok
# after: artifacts-refused,artifact-names-safe,active-content-flagged,data-unchanged
# limits: wall=20s memory=512MiB
# oracle: inband
# prints: 19 3 ['out.csv', 'out.json', 'out.parquet', 'out.xlsx']
import os
import pandas as pd
table = pd.read_csv(files["input.csv"])
table.to_csv(artifacts / "out.csv", index=False); table.to_json(artifacts / "out.json")
table.to_parquet(artifacts / "out.parquet"); table.to_excel(artifacts / "out.xlsx", index=False)
print(table.quantity_in_stock.sum(), len(pd.read_parquet(artifacts / "out.parquet")), sorted(os.listdir(artifacts)))
