# --- whole numbers without a bound -----------------------------------------------------------------------------------

BEYOND = "whole numbers would pass the bound of their type here; take `.astype(object)`, whose numbers have no bound"


def keep_exact():
    """Has pandas go on with Python's own numbers where whole numbers would pass the bound of their type: numpy begins again
    at the other end, without a word."""
    import warnings

    import pandas as pd
    from pandas.core import nanops
    from pandas.core.array_algos import masked_reductions
    from pandas.core.arrays.masked import BaseMaskedArray
    from pandas.core.groupby.ops import BaseGrouper
    from pandas.core.ops import array_ops

    guard(nanops, "nansum", lambda *_: "sum")
    guard(nanops, "nanprod", lambda *_: "prod")
    guard(nanops, "na_accum_func", lambda _values, function: function.__name__)
    guard(masked_reductions, "sum", lambda *_: "sum", initial=0)
    guard(masked_reductions, "prod", lambda *_: "prod", initial=1)
    guard(BaseMaskedArray, "_accumulate", lambda _values, name: name)
    guard(BaseGrouper, "_cython_operation", lambda *args: [arg for arg in args if isinstance(arg, str)][-1])
    guard(array_ops, "_na_arithmetic_op", lambda _left, _right, op, *_: getattr(op, "__name__", ""))
    guard(pd.Series, "dot", lambda *_: "dot")
    for owner, name, place in ((nanops, "nansum", 0), (nanops, "nanmean", 0), (BaseGrouper, "_cython_operation", 1)):
        keep_finite(owner, name, place)
    # Single numbers of numpy warn, where columns do not.
    warnings.filterwarnings("error", "overflow encountered in scalar", RuntimeWarning)


def guard(owner, name, how, **for_objects):
    """Puts a careful function in the place of one of pandas. `how` says from its arguments what it computes."""
    import numpy

    plain = getattr(owner, name)

    def careful(*args, **named):
        found = plain(*args, **named)
        if not is_whole(found) or not any(map(is_whole, args)):
            return found
        bound = 2 ** (8 * found.dtype.itemsize - 1)
        if reach(how(*args), args) < bound:
            return found
        with numpy.errstate(all="ignore"):
            about = plain(*map(as_floating, args), **named)
        if is_near(found, about, bound):
            return found
        try:
            return plain(*map(as_objects, args), **named, **for_objects)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            raise OverflowError(BEYOND) from None

    setattr(owner, name, careful)


def keep_finite(owner, name, place):
    """Has figures of floating point fail that are infinite, although the values are not: they would be told as if they were
    numbers. The values are the argument at this place."""
    import numpy

    plain = getattr(owner, name)
    is_infinite = lambda some: some.dtype.kind == "f" and bool(numpy.isinf(some).any())  # noqa: E731

    def careful(*args, **named):
        found = plain(*args, **named)
        values = args[place] if len(args) > place else None
        if not isinstance(found, (float, numpy.ndarray)) or not isinstance(values, numpy.ndarray):
            return found
        if is_infinite(numpy.asarray(found)) and not is_infinite(values):
            raise OverflowError("the figure is larger than floating point holds")
        return found

    setattr(owner, name, careful)


def is_whole(values):
    """Whether these are whole numbers of a type with a bound."""
    return getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u")


def reach(how, args):
    """How far from zero the outcome of an operation may be."""
    numbers = [arg for arg in args if is_whole(arg) or type(arg) is int]
    if how in ("sum", "cumsum"):
        return largest(numbers[0]) * int(numbers[0].size)
    if how in ("mul", "rmul"):
        return math.prod(map(largest, numbers))
    is_signed = all(type(some) is int or some.dtype.kind == "i" for some in numbers)
    if how in ("add", "radd", "sub", "rsub") and is_signed:
        return sum(map(largest, numbers))
    return math.inf if how in ("add", "radd", "sub", "rsub", "prod", "cumprod", "pow", "rpow", "dot") else 0


def largest(some):
    """The number that is farthest from zero."""
    if type(some) is int:
        return abs(some)
    there = some[~some.isna()].to_numpy() if hasattr(some, "isna") else some
    return max(abs(int(there.max())), abs(int(there.min()))) if there.size else 0


def is_near(found, about, bound):
    """Whether whole numbers are what floating point comes to; begun again at the other end they are far away."""
    floating = lambda values: values.to_numpy("float64", na_value=math.nan) if hasattr(values, "isna") else values  # noqa: E731
    return not (abs(floating(found) - floating(about)) >= bound).any()


def as_floating(arg):
    return arg.astype("Float64" if hasattr(arg.dtype, "numpy_dtype") else "float64") if is_whole(arg) else arg


def as_objects(arg):
    return arg.astype("object") if is_whole(arg) else arg
