import random

import numpy as np

random.seed(1)
rng = np.random.default_rng(1)
matrix = rng.normal(size=(3, 3))
print(np.linalg.det(matrix), random.random())
