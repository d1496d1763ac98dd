try:
    import tomllib
except ImportError:
    tomllib = None

print(tomllib.loads("a = 1") if tomllib else {})
