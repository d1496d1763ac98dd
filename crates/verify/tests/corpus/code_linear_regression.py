import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

data = pd.read_csv(files["houses.csv"]).dropna()
features = data[["area", "rooms"]]
train_x, test_x, train_y, test_y = train_test_split(features, data["price"], test_size=0.2, random_state=7)
model = LinearRegression().fit(train_x, train_y)
error = np.abs(model.predict(test_x) - test_y).mean()
print(f"mean absolute error {error:.1f}, R2 {model.score(test_x, test_y):.3f}")
