"""Stream, server-sent events that resume after a broken connection."""

from __future__ import annotations

import http.client
import socket
import time
from typing import Iterator, Optional

from .errors import EvalConnectionError, EvalHTTPError, EvalTimeoutError
from .sse import LARGEST_EVENT, Message, messages
from .transport import Transport

SILENCE = 60  # seconds; a live stream has a heartbeat every 15
PAUSES = (0.1, 60.0)  # seconds before the next connection, bounds of the server's wish
TRIES = 10  # connections in a row that may break without an event before the stream is given up


class Stream:
    """The events at one address. timeout is in seconds for the whole stream, over all connections."""

    def __init__(self, transport: Transport, path: str, timeout: Optional[float] = None) -> None:
        self.closed = False  # whether the server ended the last connection in order
        self._transport = transport
        self._path = path
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._last, self._pause, self._failures = "", 1.0, 0

    def connect(self) -> Iterator[Message]:
        """Yields the events of one connection after the last event seen.

        Raises EvalHTTPError below 500, EvalTimeoutError when the time is over, and what broke the connection when
        that happened too often; until then a broken connection just ends the iteration.
        """
        self.closed = False
        self._check_time()
        try:
            for message in messages(self._lines()):
                self._note(message)
                yield message
            self.closed = True
        except (EvalConnectionError, EvalTimeoutError, EvalHTTPError) as error:
            if isinstance(error, EvalHTTPError) and error.status < 500:
                raise
            self._failures += 1
            self._check_time()
            if self._failures >= TRIES:
                raise

    def pause(self) -> None:
        """Waits before the next connection, as long as the server wishes."""
        time.sleep(min(self._pause, max(self._left(), 0)))

    def _check_time(self) -> None:
        if self._left() <= 0:
            raise EvalTimeoutError(f"{self._path} did not end within {self._timeout:g} seconds")

    def _note(self, message: Message) -> None:
        self._last = message.id or self._last
        if message.data is not None:
            self._failures = 0
        if message.retry is not None:
            self._pause = min(max(message.retry / 1000, PAUSES[0]), PAUSES[1])

    def _lines(self) -> Iterator[bytes]:
        headers = {"Accept": "text/event-stream"}
        if self._last:
            headers["Last-Event-ID"] = self._last
        silence = min(SILENCE, max(self._left(), 0.001))
        with self._transport.open("GET", self._path, timeout=silence, headers=headers) as response:
            try:
                for line in iter(lambda: response.readline(LARGEST_EVENT + 1), b""):
                    if self._left() <= 0:
                        raise socket.timeout
                    yield line
            except (OSError, http.client.HTTPException) as error:
                raise self._transport.failure(error) from error

    def _left(self) -> float:
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()
