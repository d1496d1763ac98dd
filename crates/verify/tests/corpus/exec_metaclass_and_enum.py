from abc import ABC, abstractmethod
from enum import Enum


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Shape.registry[cls.__name__] = cls

    @abstractmethod
    def area(self):
        ...

    def __lt__(self, other):
        return self.area() < other.area()

    def __repr__(self):
        return f"{self.__class__.__name__}({self.area()})"


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Colour(Enum):
    RED = 1
    BLUE = 2


print(sorted([Square(3), Square(2)]), Shape.registry, Colour.RED.name)
