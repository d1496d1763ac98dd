def upper_gamma(shape, x):
    """The share of a gamma distribution above x: by a sum where x is small, by a continued fraction where it is not."""
    if x <= 0:
        return 1.0
    if math.isinf(x):
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        for step in range(1, 1000):
            term *= x / (shape + step)
            total += term
            if term < total * 1e-15:
                break
        return 1 - front * total
    below = x + 1 - shape
    c, d = 1e300, 1 / below
    fraction = d
    for step in range(1, 1000):
        factor = step * (shape - step)
        below += 2
        d = 1 / (below + factor * d)
        c = below + factor / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
