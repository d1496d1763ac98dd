import pandas as pd

data = pd.read_csv(files["sales.csv"])
numbers = data.select_dtypes("number")
report = {}
for function in ("mean", "median", "std"):
    report[function] = getattr(numbers, function)().to_dict()
print(report)
