"""Checks the text of a torch_cuda source for its required parts, before any of it runs.

The messages begin with the words of the manual of the CUDA Evaluation Server V2, because its clients match them. What
the text does not contain, such as CUDA code that the source computes, is left to PyTorch to check.
"""

import ast

NO_MODEL = "No ModelNew torch module found: the class must be named ModelNew (Model is the reference's), or metadata must give class_name or function_name"


def problem(source, metadata):
    """Returns the reason why a source is not a torch_cuda kernel, or None. Also returns None for a source that
    Python cannot parse, because the error of the import has more details."""
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
    """Returns a sentence that explains an error in the call of an extension, or None."""
    if "incompatible function arguments" in error:
        return ("pybind11 found no function of the extension for these arguments. It converts no tensor to a pointer: a parameter such as const float* "
                "must be a torch::Tensor, whose data_ptr() is the pointer.")
    return None


def inline_calls(tree):
    """Returns the calls of load_inline, also if it was imported under another name."""
    names = {"load_inline"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.update(alias.asname for alias in node.names if alias.name == "load_inline" and alias.asname)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Name) and node.func.id in names or isinstance(node.func, ast.Attribute) and node.func.attr == "load_inline")]


def bound_names(tree):
    """Returns the names that the source binds anywhere, each with the expressions that are assigned to it. A binding
    that is not a plain assignment counts as None."""
    bound: dict = {}
    assigned = set()
    for node in ast.walk(tree):  # ast.walk yields an assignment before its targets
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
    """Returns the expression of a call's cuda_sources, or None if it is missing or empty. Returns the call itself if
    it has starred arguments, which may contain it."""
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
    """Reports whether an expression is made only of literals, and of names to which only such expressions are
    assigned."""
    if isinstance(value, ast.Name):
        set_to = bound.get(value.id, [None])
        return value.id not in within and len(within) < 8 and all(is_text(one, bound, (*within, value.id)) for one in set_to)
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(is_text(item, bound, within) for item in value.elts)
    return isinstance(value, ast.Constant)


def texts(tree):
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
