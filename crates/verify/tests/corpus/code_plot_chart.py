import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

data = pd.read_csv(files["sales.csv"], parse_dates=["date"])
monthly = data.set_index("date")["amount"].resample("M").sum()
figure, axes = plt.subplots(figsize=(8, 4))
monthly.plot(ax=axes, kind="bar")
axes.set_title("Sales by month")
figure.savefig(artifacts / "sales.png")
answer_text = f"The best month was {monthly.idxmax():%B %Y}."
STATUS = "success"
