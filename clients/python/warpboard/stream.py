"""Stream, server-sent events that resume after a broken connection."""

from __future__ import annotations

import http.client
import socket
import time
from typing import Iterator, Optional

from .errors import EvalConnectionError, EvalHTTPError, EvalTimeoutError
from .sse import LARGEST_EVENT, Message, messages
from .transport import Transport

SILENCE = 60  # seconds without data after which a connection counts as broken; the server sends a heartbeat every 15 s
# shortest and longest pause before the next connection, in seconds; the server chooses within them
PAUSES = (0.1, 60.0)
TRIES = 10  # connections that may break in a row, without an event, before the stream fails


class Stream:
    """Stream reads the events at one address. timeout is in seconds, for all connections together."""

    def __init__(self, transport: Transport, path: str, timeout: Optional[float] = None) -> None:
        self.closed = False  # true if the server ended the last connection without an error
        self._transport = transport
        self._path = path
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._last, self._pause, self._failures = "", 1.0, 0

    def connect(self) -> Iterator[Message]:
        """Yields the events of one connection after the last event seen.

        Raises EvalHTTPError for a status below 500, and EvalTimeoutError when timeout has passed. Another error ends
        the iteration; after ten such errors without an event in between, it is raised.
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
        """Waits before the next connection, for the time that the server requests."""
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
