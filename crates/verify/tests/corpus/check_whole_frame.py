import pandas as pd

items = frame("inventory")
share = items.isnull().mean().max()
result = {"status": "PASS" if share < 0.1 else "FAIL", "summary": f"{share:.0%} nulls at most"}
print(pd.Series([share]).describe())
