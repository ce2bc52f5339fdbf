"""What a torch_cuda source must have, read from its text before any of it runs.

The messages begin with the words of the evaluation server's manual, because its clients look for them. What the text does
not show, such as CUDA code that is computed, is left to PyTorch.
"""

import ast

NO_MODEL = "No ModelNew torch module found: the class must be named ModelNew (Model is the reference's), or metadata must give class_name or function_name"


def problem(source, metadata):
    """Returns the reason why a source is no torch_cuda kernel, or None. A source that Python cannot read has none: the
    import's error has more details."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls, bound = inline_calls(tree), bound_names(tree)
    if not calls:
        return ("No load_inline call found: a torch_cuda kernel builds its CUDA code with "
                "torch.utils.cpp_extension.load_inline(name=..., cpp_sources=..., cuda_sources=..., functions=[...])")
    problems = [call_problem(call, bound) for call in calls]
    if all(problems):
        return problems[0]
    if "ModelNew" not in bound and not metadata.get("class_name") and not metadata.get("function_name"):
        return NO_MODEL
    if not any("__global__" in text for text in texts(tree)) and all(is_text(cuda_sources(call), bound) for call in calls):
        return ("No __global__ functions found: no text of the source declares a CUDA kernel. If it only calls a library such as cuBLAS, "
                "send it with kernel_type torch")
    return None


def remark(error):
    """A sentence on the error of a call of an extension, or None."""
    if "incompatible function arguments" in error:
        return ("pybind11 found no function of the extension for these arguments. It converts no tensor to a pointer: a parameter such as const float* "
                "must be a torch::Tensor, whose data_ptr() is the pointer.")
    return None


def inline_calls(tree):
    """The calls of load_inline, by whatever name it was imported."""
    names = {"load_inline"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.update(alias.asname for alias in node.names if alias.name == "load_inline" and alias.asname)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Name) and node.func.id in names or isinstance(node.func, ast.Attribute) and node.func.attr == "load_inline")]


def bound_names(tree):
    """The names that the source gives a value to, wherever, each with the expressions that it is set to; with None where
    something else sets it."""
    bound: dict = {}
    assigned = set()
    for node in ast.walk(tree):  # an assignment comes before its targets
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.add(target)
                    bound.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in assigned:
            bound.setdefault(node.id, []).append(None)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.setdefault(node.name, []).append(None)
        elif isinstance(node, ast.arg):
            bound.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.alias):
            bound.setdefault((node.asname or node.name).partition(".")[0], []).append(None)
    return bound


def cuda_sources(call):
    """The expression of a call's cuda_sources, or None; the call itself where the text does not show it."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
        return call
    named = {word.arg: word.value for word in call.keywords}
    value = named.get("cuda_sources") or (call.args[2] if len(call.args) > 2 else None)
    empty = isinstance(value, ast.Constant) and not value.value or isinstance(value, (ast.List, ast.Tuple)) and not value.elts
    return None if empty else value


def call_problem(call, bound):
    value = cuda_sources(call)
    if value is None:
        return f"No cuda_sources found in the load_inline call of line {call.lineno}: give it cuda_sources=, the text of the CUDA code"
    for item in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
        if isinstance(item, ast.Name) and item.id not in bound:
            return f"Failed to extract CUDA source from variable '{item.id}' in line {call.lineno}: nothing in the source sets it"
    return None


def is_text(value, bound, within=()):
    """Reports whether an expression can only be text that stands in the source: made of literals, and of names that
    are."""
    if isinstance(value, ast.Name):
        set_to = bound.get(value.id, [None])
        return value.id not in within and len(within) < 8 and all(is_text(one, bound, (*within, value.id)) for one in set_to)
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(is_text(item, bound, within) for item in value.elts)
    return isinstance(value, ast.Constant)


def texts(tree):
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
