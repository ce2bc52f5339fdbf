"""Parses server-sent events: only the features that the evaluation API uses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional

from .errors import DIGITS, WarpboardError

LARGEST_EVENT = 64 << 20  # bytes; Warpboard never sends a larger event


@dataclass
class Message:
    """One event of a stream. data is the parsed JSON, or the text if it is not JSON, or None without data."""

    name: str = "message"
    id: str = ""
    data: Any = None
    retry: Optional[int] = None  # milliseconds to wait before connecting again, if the event has this field


def messages(lines: Iterable[bytes]) -> Iterator[Message]:
    """Yields the events of a stream's lines. An event that the stream's end cuts off is dropped."""
    message, text, size = Message(), [], 0  # type: Message, List[str], int
    for raw in lines:
        line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
        size += len(raw)
        if size > LARGEST_EVENT:
            raise WarpboardError(f"the server sent an event of more than {LARGEST_EVENT >> 20} MiB")
        if line:
            _field(message, text, line)
            continue
        if text or message != Message():
            message.data = _data("\n".join(text))
            yield message
        message, text, size = Message(), [], 0


def _field(message: Message, text: List[str], line: str) -> None:
    name, _, value = line.partition(":")
    value = value[1:] if value.startswith(" ") else value
    if name == "data":
        text.append(value)
    elif name == "event":
        message.name = value
    # these conditions, because the ID is sent back in a header
    elif name == "id" and value.isascii() and value.isprintable():
        message.id = value
    elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= DIGITS:
        message.retry = int(value)


def _data(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
