# name: language
# class: allowed
# tries: classes, enums, generators, pattern matching, regular expressions, introspection and dynamic code
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: Color.RED [1, 1, 2, 3, 5] two ['2026', '11'] 42 MainScope
import enum, inspect, re
class Color(enum.Enum): RED = 1
def fibonacci():
    a, b = 1, 1
    while True: yield a; a, b = b, a + b
source = fibonacci()
match [1, 2]:
    case [_, 2]: word = "two"
    case _: word = "other"
MainScope = type("MainScope", (), {})
print(Color.RED, [next(source) for _ in range(5)], word, re.findall(r"\d+", "2026-11"), eval("6 * 7"), MainScope.__qualname__)
