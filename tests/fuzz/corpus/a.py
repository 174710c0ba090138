def f(x, *y, k=1):
    """doc"""
    return [x**2 for x in y if x > 0x1F] or {"a": 1.5j}
