"""Contracts and kernels as JSON text and files."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Type, Union

from . import models
from .model import Model

PathLike = Union[str, "os.PathLike[str]"]


def to_json(obj: Any, pretty: bool = False) -> str:
    """Returns the JSON text of a model, of a dict, or of an answer with RuntimeStats.

    Raises TypeError for any other object.
    """
    return json.dumps(obj, indent=2 if pretty else None, default=_plain)


def save_to_file(obj: Any, filename: PathLike, pretty: bool = True) -> None:
    """Writes to_json(obj) to a file, in UTF-8. Raises OSError."""
    text = to_json(obj, pretty=pretty)
    with open(filename, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def load_from_file(filename: PathLike, obj_type: str = "IOContract") -> Any:
    """Reads a model that save_to_file wrote: obj_type is the model's name, or "dict" for plain JSON.

    Raises OSError, and ValueError when the file does not hold such a model.
    """
    kinds: Dict[str, Type[Model]] = {name: getattr(models, name) for name in models.__all__ if name != "KernelType"}
    if obj_type not in kinds and obj_type != "dict":
        raise ValueError(f"obj_type {obj_type!r} is not one of {', '.join(kinds)}, dict")
    with open(filename, encoding="utf-8") as file:
        try:
            data = json.load(file)
            return data if obj_type == "dict" else kinds[obj_type].from_dict(data)
        except ValueError as error:
            raise ValueError(f"{os.fspath(filename)}: {error}") from error


def read_source(path: PathLike) -> str:
    """Returns the text of a kernel's file. Raises OSError, and ValueError with the line number if it is not UTF-8."""
    with open(path, encoding="utf-8") as file:
        try:
            return file.read()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            byte = error.object[error.start]
            raise ValueError(f"{os.fspath(path)}:{line}: the byte 0x{byte:02X} is not UTF-8 text: save the file as UTF-8") from None


def _plain(obj: Any) -> Any:
    if isinstance(obj, Model):
        return obj.to_dict()
    raise TypeError(f"{type(obj).__name__} cannot be written as JSON")
