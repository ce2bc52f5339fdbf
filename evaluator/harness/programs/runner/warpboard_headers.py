"""Writes reduced versions of torch's headers for one source of an extension, if they do not change its meaning.

Most of the time of a compile goes into torch's headers: 1,500 operators as functions, and in torch/extension.h the
neural networks, optimizers and data loaders. Two headers stand before torch's own:

- ATen/Functions.h is torch's own text without the operators that the source does not name. Code that calls an operator
  as a function must name it, so that overloads are chosen among the same functions. With AT_PER_OPERATOR_HEADERS,
  torch's other headers include the operators that they need.
- torch/extension.h (torch/torch.h, torch/all.h) includes the tensors, and the Python bindings if the source names them.
  Everything else is in separate namespaces: a source that uses it does not compile, and is compiled with all headers.

If the text of a source does not show all names that it uses, it gets all headers (see allowed).
"""

from __future__ import annotations

import os
import re

OPERATOR = re.compile(r"[ \t]*#[ \t]*include[ \t]*<ATen/ops/(\w+)\.h>[ \t]*")
WORD = re.compile(r"[A-Za-z_]\w*")
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(.*)", re.M)
DEFINES = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
CONTINUED = re.compile(r"\\[ \t\r]*\n")
# Matches texts that may use names that they do not show: by concatenated words, other headers, the whole namespace
# torch, or directives in unusual forms.
UNCLEAR = re.compile(
    r"##|%:|\?\?[=/]|^[ \t]*#[ \t]*(?:/|(?:include|import)[ \t]*[^<\s])|\*/[ \t]*#|AT_PER_OPERATOR_HEADERS|TORCH_ASSERT"
    r"|using\s+namespace\s+(?:::\s*)?torch\s*;", re.M)
INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(?:torch|ATen|c10)/", re.M)
KNOWN = {"defined", "CUDA_VERSION", "CUDART_VERSION", "USE_ROCM", "TORCH_VERSION_MAJOR", "TORCH_VERSION_MINOR"}
BINDS = re.compile(r"pybind|PYBIND11|\bpy\s*::|\bTHP\w+|\bPy[A-Z_]\w*|torch/python\.h")
# operators that ATen/TensorIndexing.h uses but, in some versions of torch, does not include
INDEXING = "alias empty scalar_tensor zeros "
TENSORS = "#pragma once\n#include <torch/types.h>\n#include <torch/version.h>\n"
WHOLE = "torch/extension.h", "torch/torch.h", "torch/all.h"
BINDINGS = TENSORS + """\
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>
"""


def flags(folder: str) -> list[str]:
    """Returns the compiler arguments that make it search a folder of headers first."""
    return ["-DAT_PER_OPERATOR_HEADERS", "-isystem", folder]


def write(folder: str, text: str, args: list[str]) -> bool:
    """Writes the reduced headers for a source into a new folder. Returns False, and writes nothing, if the source needs
    all of torch's headers, or includes none."""
    torch = included(args, "ATen/Functions.h")
    if not torch or not INCLUDES.search(text) or not allowed(text, args):
        return False
    with open(os.path.join(torch, "ATen", "Functions.h"), encoding="utf-8") as file:
        functions = fewer(file.read(), text)
    whole = BINDINGS if BINDS.search(text) else TENSORS
    for name, content in ("ATen/Functions.h", functions), *((name, whole) for name in WHOLE):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return True


def allowed(text: str, args: list[str]) -> bool:
    """Reports whether the text shows all names that a source uses, and the values of its conditions."""
    text = CONTINUED.sub("", text)
    if UNCLEAR.search(text) or os.environ.get("CPATH") or os.environ.get("CPLUS_INCLUDE_PATH"):
        return False
    if any(arg.startswith(("-I", "-include", "--include-path", "--pre-include", "-optf", "--options-file", "@")) for arg in args):
        return False
    if any(not known(folder) for folder in system_folders(args)):
        return False
    own = KNOWN | set(DEFINES.findall(text))
    words = {word for condition in CONDITION.findall(text) for word in WORD.findall(condition.split("//")[0])}
    return all(word in own or word.startswith("__") and word != "__has_include" for word in words)


def system_folders(args: list[str]) -> list[str]:
    return [after for arg, after in zip(args, args[1:]) if arg == "-isystem"]


def known(folder: str) -> bool:
    """Reports whether a folder of headers is torch's, CUDA's, or Python's, or does not exist."""
    marks = "ATen/Functions.h", "../ATen/Functions.h", "torch/torch.h", "cuda.h", "Python.h"
    return not os.path.isdir(folder) or any(os.path.exists(os.path.join(folder, mark)) for mark in marks)


def included(args: list[str], header: str) -> str | None:
    return next((folder for folder in system_folders(args) if os.path.exists(os.path.join(folder, header))), None)


def fewer(functions: str, text: str) -> str:
    """Returns the text of torch's ATen/Functions.h with only the operators that the source text or the file's own
    functions name."""
    lines = functions.splitlines()
    own = "\n".join(line for line in lines if not line.lstrip().startswith(("#include", "//")))
    named: set[str] = set()
    for word in WORD.findall(INDEXING + own + text):
        named.update((word, re.sub(r"(?:_symint|_outf?|_)+$", "", word)))
    return "\n".join(line for line in lines if not (found := OPERATOR.fullmatch(line)) or found[1] in named) + "\n"
