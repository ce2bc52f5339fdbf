"""Tables: sequences of dataclasses that print as text, show as HTML in notebooks, and that pandas.DataFrame accepts."""

from __future__ import annotations

import dataclasses
import html
from datetime import datetime
from typing import Any, Dict, Generic, Iterable, List, Sequence, Tuple, TypeVar, Union, overload

R = TypeVar("R")


class Table(Sequence[R], Generic[R]):
    """A sequence of rows, each a dataclass. pandas.DataFrame(table) has all fields as columns; the text form has only
    some."""

    caption = ""

    def __init__(self, rows: Iterable[R], shown: Sequence[str]) -> None:
        self._rows = tuple(rows)
        self._shown = tuple(shown)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> "Table[R]": ...
    def __getitem__(self, index: Union[int, slice]) -> Union[R, "Table[R]"]:
        return Table(self._rows[index], self._shown) if isinstance(index, slice) else self._rows[index]

    def to_dict(self) -> Dict[str, List[Any]]:
        """Returns the columns by field name, each as a list of values."""
        first: Any = self._rows[0] if self._rows else None
        names = [f.name for f in dataclasses.fields(first)] if self._rows else []
        return {name: [getattr(row, name) for row in self._rows] for name in names}

    def __repr__(self) -> str:
        lines = [self._shown, *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._shown))]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.caption, *text] if self.caption else text)

    def _repr_html_(self) -> str:
        return html_table(self.caption, self._shown, self._cells())

    def _cells(self) -> List[Tuple[str, ...]]:
        return [tuple(cell(name, getattr(row, name)) for name in self._shown) for row in self._rows]


def cell(name: str, value: Any) -> str:
    """Formats a value of the column with this name for display."""
    if value is None:
        return ""
    if isinstance(value, float) and (name.endswith("_ns") or name.startswith("interval_")):
        return nanoseconds(value)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def nanoseconds(value: float) -> str:
    """Formats a time in a suitable unit, with four digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} ns"


def html_table(caption: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table as HTML for a notebook. All texts are escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in line) + "</tr>" for line in lines)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
