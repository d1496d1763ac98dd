import pandas as pd
table = pd.DataFrame({'a': [1, 2, 3]})
print(table.a.sum())
