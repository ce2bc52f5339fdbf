"""Base of all models: a dataclass that checks its fields and converts to a dict or JSON and back."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar, Dict, List, Optional, Tuple, Type, TypeVar

M = TypeVar("M", bound="Model")
T = TypeVar("T")


class Model:
    """Base of the dataclasses that make up a request.

    A model is checked when it is created: an invalid value raises ValueError, with a message that names the
    field. Conditions that only the server knows, such as its limits, are not checked.
    """

    #: The model classes of fields, by field name.
    PARTS: ClassVar[Dict[str, Type["Model"]]] = {}
    #: If true, from_dict refuses unknown keys. Otherwise it ignores them, as the server does.
    STRICT: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, part in self.PARTS.items():
            if getattr(self, name) is not None:
                setattr(self, name, as_model(part, getattr(self, name), f"{type(self).__name__}.{name}"))
        self.check()

    def check(self) -> None:
        """Converts the fields to plain Python types. Raises ValueError for values that cannot be sent."""

    def to_dict(self) -> Dict[str, Any]:
        """Returns the JSON form as a dict, without fields that are None."""
        own: Any = self  # Any, because only the subclasses are dataclasses
        values = ((f.name, getattr(self, f.name)) for f in fields(own))
        return {name: _plain(value) for name, value in values if value is not None}

    def dict(self) -> Dict[str, Any]:
        """Does the same as to_dict; the older client's models had this name."""
        return self.to_dict()

    @classmethod
    def from_dict(cls: Type[M], data: Dict[str, Any]) -> M:
        """Returns the model for a dict in JSON form. Raises ValueError if a required key is missing."""
        if not isinstance(data, dict):
            raise ValueError(f"{cls.__name__}: a dict is needed, not {type(data).__name__}")
        own: Any = cls
        names = [f.name for f in fields(own)]
        unknown = [key for key in data if key not in names]
        if cls.STRICT and unknown:
            raise ValueError(f"{cls.__name__}: unknown keys {', '.join(map(str, unknown))}")
        try:
            return cls(**{name: data[name] for name in names if data.get(name) is not None})
        except TypeError as error:
            raise ValueError(f"{cls.__name__}: {error}") from error

    def to_json(self, pretty: bool = False) -> str:
        """Returns the JSON text, indented by two spaces if pretty is true."""
        return json.dumps(self.to_dict(), indent=2 if pretty else None)


def as_model(kind: Type[M], value: Any, where: str) -> M:
    """Returns value if it is a model of this kind, or converts it from a dict. Raises ValueError for anything else."""
    if isinstance(value, kind):
        return value
    if isinstance(value, dict):
        return kind.from_dict(value)
    raise ValueError(f"{where}: {kind.__name__} or a dict is needed, not {type(value).__name__}")


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def integer(value: Any, where: str, least: Optional[int] = None) -> Optional[int]:
    """Returns value as an int; it may be a numpy integer or 12.0. None stays None. Raises ValueError for other
    values."""
    if value is None:
        return None
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise ValueError(f"{where}: an integer is needed, not {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{where}: {number} is below {least}")
    return number


def real(value: Any, where: str) -> Optional[float]:
    """Returns value as a finite float. None stays None. Raises ValueError for other values: JSON has no NaN and no
    infinity."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: a number is needed, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{where}: {number} cannot be sent; only finite numbers can")
    return number


def choice(value: Any, where: str, allowed: Tuple[str, ...]) -> Any:
    """Returns value if it is allowed. Otherwise raises ValueError with the allowed values."""
    if value not in allowed:
        raise ValueError(f"{where}: {value!r} is not one of {', '.join(allowed)}")
    return value


def extents(shape: Any, where: str) -> List[int]:
    """Returns a tensor's shape as a list of ints. An int is a shape of one dimension. Raises ValueError."""
    dims = [shape] if hasattr(shape, "__index__") else list(shape)
    return [required(integer(extent, where, least=0), where) for extent in dims]


def required(value: Optional[T], where: str) -> T:
    """Returns value. Raises ValueError if it is None."""
    if value is None:
        raise ValueError(f"{where}: a value is needed")
    return value
