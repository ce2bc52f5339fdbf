

def _in_place_of_the_answer():
    """Returns a function that calls custom_kernel, and returns trivial outputs with the same structure instead."""
    import copy
    import sys

    def libraries():
        return [(sys.modules[name], kind) for name, kind in (("torch", "Tensor"), ("numpy", "ndarray")) if name in sys.modules]

    def library(value):
        return next((module for module, kind in libraries() if isinstance(value, getattr(module, kind))), None)

    def parts(value):
        if library(value) is not None:
            return [value]
        items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else vars(value).values() if hasattr(value, "__dict__") else ()
        return [part for item in items for part in parts(item)]

    def trivial(value, inputs):
        module = library(value)
        if module is not None:
            if KIND == "zeros":
                return module.zeros_like(value)
            if KIND == "mean":
                real = value if module.__name__ == "numpy" else value.double()
                return module.full_like(value, real.mean().item()) if math_size(value) > 1 else None
            return next((part for part in inputs if library(part) is module and part.shape == value.shape and part.dtype == value.dtype), None)
        if isinstance(value, dict):
            return {key: trivial(item, inputs) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[trivial(item, inputs) for item in value])
        if isinstance(value, (list, tuple)):
            return type(value)(trivial(item, inputs) for item in value)
        return None if value is None else type(value)()

    def math_size(value):
        return value.numel() if hasattr(value, "numel") else value.size

    solution = custom_kernel

    def replaced(data):
        inputs = [part.clone() if hasattr(part, "clone") else copy.copy(part) for part in parts(data)]
        return trivial(solution(data), inputs)

    return replaced


custom_kernel = _in_place_of_the_answer()
