"""Converts the JSON of an answer to dataclasses. Unknown fields are ignored, because newer sites may add some."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime
from typing import Any, Dict, List, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import WarpboardError

T = TypeVar("T")

_FRACTION = re.compile(r"\.(\d{1,6})\d*")


def read(kind: Type[T], data: Any) -> T:
    """Converts data to a dataclass. Raises WarpboardError if data does not have its form."""
    try:
        return _value(kind, data)  # type: ignore[no-any-return]
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise WarpboardError(f"the answer is not a {kind.__name__} of a Warpboard site: {error}") from error


def _value(kind: Any, data: Any) -> Any:
    origin = get_origin(kind)
    if origin is Union:  # Optional[...]
        return None if data is None else _value(get_args(kind)[0], data)
    if origin is list:
        return [_value(get_args(kind)[0], one) for one in data or ()]
    if origin is dict:
        return {name: _value(get_args(kind)[1], one) for name, one in (data or {}).items()}
    if kind is datetime:
        return _time(data)
    if kind is float:
        return float(data)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data)
    return data


def _record(kind: Any, data: Dict[str, Any]) -> Any:
    hints = get_type_hints(kind)
    values = {f.name: data[f.name] for f in dataclasses.fields(kind) if data.get(f.name) is not None}
    return kind(**{name: _value(hints[name], value) for name, value in values.items()})


def _time(text: str) -> datetime:
    """Parses a time of RFC 3339. Python before 3.11 parses neither Z nor nanoseconds itself."""
    return datetime.fromisoformat(_FRACTION.sub(lambda m: "." + m[1].ljust(6, "0"), text.replace("Z", "+00:00")))


def rows(kind: Type[T], data: Any) -> List[T]:
    """Converts a list of records. None becomes an empty list."""
    if not isinstance(data, (list, type(None))):
        raise WarpboardError(f"the answer is not a list of {kind.__name__} of a Warpboard site")
    return [read(kind, one) for one in data or ()]
