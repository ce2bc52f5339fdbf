"""What a kernel may return: NumPy arrays, torch tensors, numbers, text and None, and tuples, lists and dicts of
them. Their types must be exactly these: a subclass, or an object that makes an array when it is asked for one,
could compute its answer after the clock has stopped, or when it sees what it is compared with."""

import sys

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class BadAnswer(Exception):
    """Says what is wrong with the answer's type."""


def pack(value, buffers, again):
    """Describes value in what JSON can say; copies of its arrays' contents are appended to buffers. Its names are
    those of bound_names; again is pack itself."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return ["plain", value]
    if kind is tuple or kind is list:
        return [kind.__name__, [again(item, buffers, again) for item in value]]
    if kind is dict:
        return ["dict", [[again(key, buffers, again), again(item, buffers, again)] for key, item in value.items()]]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return ["named", kind.__name__, [again(item, buffers, again) for item in value]]
    if (kind is ndarray or isinstance(value, generic)) and value.dtype.kind in "biufcSUmM":
        array = copied(value, order="C")
        buffers.append(array.reshape(-1).view("uint8"))
        return ["array" if kind is ndarray else "scalar", array.dtype.str, array.shape]
    if kind is Tensor and value.layout == strided and not value.is_quantized:
        described = ["tensor", str(value.dtype).removeprefix("torch."), tuple(value.shape)]
        for step in steps:
            value = step(value)
        buffers.append(numpy(view(reshape(value, (-1,)), bytes_type)))
        return described
    raise BadAnswer(sentence(kind))


def bound_names():
    """The names that pack uses, as they are now."""
    names = {"BadAnswer": BadAnswer, "sentence": _sentence, "ndarray": None, "generic": (), "Tensor": None}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        names.update(ndarray=numpy.ndarray, generic=numpy.generic, copied=numpy.array)
    if torch is not None:
        tensor = torch.Tensor
        names.update(Tensor=tensor, strided=torch.strided, bytes_type=torch.uint8)
        names.update(reshape=tensor.reshape, view=tensor.view, numpy=tensor.numpy)
        names["steps"] = (tensor.detach, tensor.resolve_conj, tensor.resolve_neg, tensor.contiguous, tensor.clone)
    return tuple(names.items())


def unpack(description, buffers):
    """Makes the value again. Nothing in the description is believed that would run code."""
    kind, *rest = description
    if kind == "plain":
        return rest[0]
    if kind in ("tuple", "list"):
        return {"tuple": tuple, "list": list}[kind](unpack(item, buffers) for item in rest[0])
    if kind == "dict":
        return {unpack(key, buffers): unpack(item, buffers) for key, item in rest[0]}
    if kind == "named":
        return _named(rest[0], [unpack(item, buffers) for item in rest[1]])
    return _array(kind, rest[0], tuple(rest[1]), buffers.pop(0))


def _named(name, items):
    """Named tuples of the task's own modules keep their names."""
    for module in ("task", "reference"):
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return kind(*items)
    return tuple(items)


def _array(kind, dtype, shape, content):
    import numpy

    if kind == "tensor":
        import torch

        tensor = torch.empty(shape, dtype=getattr(torch, dtype))
        tensor.reshape(-1).view(torch.uint8).numpy()[:] = numpy.frombuffer(content, "uint8") if content else 0
        return tensor
    array = numpy.empty(shape, numpy.dtype(dtype))
    array.reshape(-1).view("uint8")[:] = numpy.frombuffer(content, "uint8") if content else 0
    return array[()] if kind == "scalar" else array


def require_plain(value):
    """Raises BadAnswer for an array's or tensor's derivate or look-alike, and copies nothing."""
    kind = type(value)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            require_plain(item)
        return
    exact = [getattr(sys.modules.get(m), name, None) for m, name in (("numpy", "ndarray"), ("torch", "Tensor"))]
    generic = getattr(sys.modules.get("numpy"), "generic", ())
    if kind not in _PLAIN and kind not in exact and not isinstance(value, generic):
        raise BadAnswer(_sentence(kind))


def _sentence(kind):
    return (
        f"custom_kernel returned a {kind.__module__}.{kind.__qualname__}: it must return NumPy arrays, torch tensors, "
        "numbers, or tuples, lists and dicts of them, and of no type that is derived from these"
    )
