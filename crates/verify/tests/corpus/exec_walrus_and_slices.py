import re

lines = ["a=1", "b=2", "oops"]
pairs = {m[1]: int(m[2]) for line in lines if (m := re.match(r"(\w)=(\d)", line))}
numbers = list(range(10))
print(pairs, numbers[::-2], numbers[-3:], *numbers[:2], sep=", ")
first, *middle, last = numbers
print(first, middle, last, sum(x * y for x, y in zip(numbers, numbers[1:])))
