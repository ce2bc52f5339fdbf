"""Server-sent events, as far as the evaluation API uses them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Optional

from .errors import DIGITS, WarpboardError

LARGEST_EVENT = 64 << 20  # characters; a Warpboard never sends more


@dataclass
class Message:
    """One event of a stream. data is the parsed JSON, or the text if it is not JSON, or None without data."""

    name: str = "message"
    id: str = ""
    data: Any = None
    retry: Optional[int] = None  # ms to wait before connecting again, if this block has it


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
    elif name == "id" and value.isascii() and value.isprintable():  # it is sent back in a header
        message.id = value
    elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= DIGITS:
        message.retry = int(value)


def _data(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
