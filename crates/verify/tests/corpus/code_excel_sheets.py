from pathlib import Path

import pandas as pd

book = pd.ExcelFile(files["book.xlsx"])
with pd.ExcelWriter(artifacts / "clean.xlsx") as writer:
    for sheet in book.sheet_names:
        table = book.parse(sheet).dropna(how="all")
        table.columns = [str(column).strip().lower() for column in table.columns]
        table.to_excel(writer, sheet_name=sheet, index=False)
print(Path(artifacts).name)
