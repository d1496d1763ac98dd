# name: pickle_own_class
# class: allowed
# tries: pickle, copy and compare objects of classes that the program defines
# expected: works as in a script
# outcome: ok
# after: none
# oracle: inband
# prints: Point(x=1, y=2) True __main__
import copy, dataclasses, pickle
@dataclasses.dataclass
class Point:
    x: int
    y: int
point = pickle.loads(pickle.dumps(Point(1, 2)))
print(point, copy.deepcopy(point) == point, Point.__module__)
