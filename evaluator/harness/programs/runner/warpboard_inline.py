"""Changes torch.utils.cpp_extension in a process that may compile extensions:

- Ninja runs the compilers by warpboard_compiler.py.
- load_inline compiles C++ sources that launch a kernel with <<<>>> with nvcc, because g++ cannot compile them.

Each process of a submission makes the same changes, so that ninja finds an earlier process's output up to date.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

COMPILER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warpboard_compiler.py")
LOG = "warpboard.log"
NAME = "torch.utils.cpp_extension"
IGNORED = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S | re.M)
HEADER = "#include <torch/extension.h>"


def install() -> None:
    """Changes torch.utils.cpp_extension: at once if it is loaded, otherwise when it is imported."""
    if NAME in sys.modules:
        change(sys.modules[NAME])
    elif not any(isinstance(finder, Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, Later())


class Later:
    """Later is an import hook that changes torch.utils.cpp_extension after its import."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            setattr(spec.loader, "exec_module", functools.partial(load_and_change, spec.loader.exec_module))
        return spec


def load_and_change(load: Callable[[Any], None], module: Any) -> None:
    load(module)
    change(module)


def change(cpp_extension: Any) -> None:
    """Changes the module once, if it has the functions that are replaced."""
    if hasattr(cpp_extension, "_write_ninja_file") and not hasattr(cpp_extension, "_warpboard"):
        cpp_extension._warpboard = True
        cpp_extension._write_ninja_file = behind(cpp_extension._write_ninja_file)
        cpp_extension.load_inline = with_launches(cpp_extension.load_inline)


def behind(write_ninja_file: Callable[..., None]) -> Callable[..., None]:
    """Returns write_ninja_file changed so that ninja runs the compilers by warpboard_compiler.py."""
    @functools.wraps(write_ninja_file)
    def write(path, *args, **kwargs):
        write_ninja_file(path, *args, **kwargs)
        with open(path) as file:
            text = file.read()
        # The compiler must stay the last word of these lines.
        text = re.sub(r"^(cxx|nvcc) = (\S+)$", lambda found: f"{found[1]} = {sys.executable} {COMPILER} {found[2]}", text, flags=re.M)
        with open(path, "w") as file:
            file.write(text)
    return write


def with_launches(load_inline: Callable[..., Any]) -> Callable[..., Any]:
    """Returns load_inline changed so that C++ sources that launch kernels are compiled as CUDA sources. The C++ source
    then only declares the bound functions."""
    signature = inspect.signature(load_inline)

    @functools.wraps(load_inline)
    def load(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
            moved = move(listed(given.get("cpp_sources")), listed(given.get("cuda_sources")), listed(given.get("functions")))
        except TypeError:
            moved = None
        if moved:
            given.update(cpp_sources=moved[0], cuda_sources=moved[1])
            return load_inline(**given)
        return load_inline(*args, **kwargs)
    return load


def listed(value: str | Iterable[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def move(cpp: list[str], cuda: list[str], functions: list[str]) -> tuple[list[str], list[str]] | None:
    """Returns new lists of C++ and CUDA sources, with all code that launches kernels in the CUDA sources. Returns None
    if the C++ sources launch none, or if no declaration is found for a bound function."""
    code = IGNORED.sub(" ", "\n".join(cpp))
    if "<<<" not in code:
        return None
    declared = declarations(code, functions)
    if len(declared) < len(functions):
        return None
    return [HEADER, *declared], [*cuda, HEADER, *cpp]


def declarations(code: str, functions: list[str]) -> list[str]:
    """Returns a declaration of each of these functions that code declares or defines outside of braces."""
    outside, depth = [], 0
    for part in re.split(r"([{};])", code):
        depth += {"{": 1, "}": -1}.get(part, 0)
        if depth == 0 and part not in ";}":
            outside.append(part.strip())
        elif depth == 1 and part == "{":
            outside.append("")
    found = {}
    for text in outside:
        for name in functions:
            if re.fullmatch(rf"[\w:<>,&*\s]+[\s&*>]{re.escape(name)}\s*\(.*\)", text, re.S) and not re.search(r"\b(static|inline|template)\b", text):
                found[name] = " ".join(text.split()) + ";"
    return list(found.values())


def log_lines(directory: str) -> Iterator[str]:
    """Yields the lines of the build logs below a directory, which name the compiled sources and their compilers."""
    for top, _, names in sorted(os.walk(directory)):
        if LOG in names:
            with open(os.path.join(top, LOG), errors="replace") as file:
                yield from (f"{os.path.basename(top)}: {line.rstrip()}" for line in file)
