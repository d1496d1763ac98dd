def kolmogorov(gap, count):
    """How likely a gap at least this large is, for a sample of that size: Kolmogorov's limit, corrected for small ones."""
    root = np.sqrt(count)
    scaled = (root + 0.12 + 0.11 / root) * gap if count else 0.0
    if scaled < 0.2:
        return 1.0
    terms = np.arange(1, 101)
    return float(np.clip(2 * ((-1.0) ** (terms - 1) * np.exp(-2 * (scaled * terms) ** 2)).sum(), 0, 1))
