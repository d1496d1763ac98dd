import pandas as pd

sales = pd.read_csv(files["sales.csv"])
summary = sales.groupby("region")["amount"].agg(["sum", "mean", "count"]).round(2)
summary.to_csv(artifacts / "summary.csv")
print(summary.to_string())
