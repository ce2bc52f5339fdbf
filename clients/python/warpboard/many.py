"""Many, which sends evaluations in batches and yields their results. It sends a batch only when an earlier one has been
read."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, NamedTuple, Optional

from .bodies import with_stats
from .errors import EvalConnectionError, EvalError, EvalHTTPError, EvalTimeoutError, WarpboardError, part
from .evaluation import EVALUATIONS
from .progress import Bar
from .sse import LARGEST_EVENT
from .stream import SILENCE
from .transport import Transport

CHUNK = 200  # requests in one batch; the server accepts up to 1,000
CHUNK_BYTES = 8 << 20  # most bytes of one batch; the server accepts 12 MiB
OPEN = 2  # batches at the same time: one is read, and the next one keeps the devices busy
TRIES = 10  # most tries of a request that fails for the moment
LONGEST = 60.0  # longest pause, in seconds, that a server can request

Answer = Dict[str, Any]


class _Batch(NamedTuple):
    path: str
    first: int  # index of its first request among all
    entries: List[Dict[str, Any]]


class Many:
    """Evaluates requests while it is iterated, which is possible once. body converts a request to its JSON body."""

    def __init__(
        self, transport: Transport, requests: Iterable[Any], body: Callable[[Any], Dict[str, Any]], *,
        ordered: bool, chunk: int, bar: Bar,
    ) -> None:
        self._transport, self._ordered, self._bar = transport, ordered, bar
        self._chunk = min(max(chunk, 1), 1000)
        self._bodies = map(body, requests)
        self._left: Optional[Dict[str, Any]] = None  # a body that was too large for the last batch, or None
        self._sent, self._stopped = 0, False
        self._open: Deque[_Batch] = deque()

    def __iter__(self) -> Iterator[Answer]:
        try:
            while True:
                while len(self._open) < OPEN and self._send():
                    pass
                if not self._open:
                    return
                batch = self._open[0]
                for answer in self._sorted(batch) if self._ordered else self._answers(batch):
                    self._bar.add(answer)
                    yield answer
                if not self._stopped:  # otherwise another thread has cancelled all batches
                    self._open.popleft()
        finally:
            self._bar.close()
            self.cancel()

    def cancel(self) -> None:
        """Cancels the running batches, and sends no more."""
        self._stopped = True
        while self._open:
            batch = self._open.pop()
            if batch.path:
                try:
                    self._transport.read("DELETE", batch.path, timeout=30)
                except WarpboardError:
                    pass  # ignored: the batch then runs to its end

    def _send(self) -> bool:
        """Sends the next batch, if there are more requests."""
        bodies = self._take()
        if not bodies or self._stopped:
            return False
        answer = self._post(bodies)
        path = f"{EVALUATIONS}/batch/{answer['id']}" if answer.get("id") else ""
        self._open.append(_Batch(path, self._sent, part(answer, "entries", list)))
        self._sent += len(bodies)
        if self._stopped:  # cancelled by another thread while the batch was sent
            self.cancel()
        return True

    def _take(self) -> List[Dict[str, Any]]:
        bodies: List[Dict[str, Any]] = []
        size = 0
        while len(bodies) < self._chunk:
            body, self._left = self._left, None
            if body is None:
                body = next(self._bodies, None)
            if body is None:
                break
            size += len(json.dumps(body))
            if bodies and size > CHUNK_BYTES:
                self._left = body
                break
            bodies.append(body)
        return bodies

    def _post(self, bodies: List[Dict[str, Any]]) -> Dict[str, Any]:
        headers = {"Idempotency-Key": uuid.uuid4().hex}  # so that the server recognizes a second try
        left = TRIES
        while True:
            try:
                return self._transport.call("POST", EVALUATIONS + "/batch", {"requests": bodies}, timeout=120, headers=headers)
            except (EvalHTTPError, EvalConnectionError, EvalTimeoutError) as error:
                left -= 1
                _pause(error, left)

    def _sorted(self, batch: _Batch) -> Iterator[Answer]:
        early: Dict[int, Answer] = {}
        wanted = batch.first
        for answer in self._answers(batch):
            early[answer["index"]] = answer
            while wanted in early:
                yield early.pop(wanted)
                wanted += 1

    def _answers(self, batch: _Batch) -> Iterator[Answer]:
        """Yields the refused requests first, then results as they arrive."""
        for index, entry in enumerate(batch.entries, batch.first):
            if entry.get("problem"):
                yield {"index": index, "state": "refused", "ended": True, "problem": entry["problem"]}
        if batch.path:
            for line in self._lines(batch.path):
                answer = part(line, "evaluation", dict)
                if isinstance(answer.get("result"), dict):
                    with_stats(answer["result"])
                yield {**answer, "index": batch.first + part(line, "index", int)}

    def _lines(self, path: str) -> Iterator[Dict[str, Any]]:
        """Yields the results of a batch. After a broken connection, it resumes where the connection broke."""
        after, left = 0, TRIES
        while True:
            try:
                for line in self._connection(f"{path}/results?after={after}"):
                    if line.get("end"):
                        return
                    after, left = part(line, "number", int), TRIES
                    yield line
                error: EvalError = EvalConnectionError(f"{path} ended before all results had come")
            except (EvalHTTPError, EvalConnectionError, EvalTimeoutError) as broken:
                error = broken
            left -= 1
            _pause(error, left)

    def _connection(self, path: str) -> Iterator[Dict[str, Any]]:
        with self._transport.open("GET", path, timeout=SILENCE) as response:
            try:
                for text in iter(lambda: response.readline(LARGEST_EVENT + 1), b""):
                    if text.strip():
                        yield _parse(text)
            except (OSError, http.client.HTTPException) as error:
                raise self._transport.failure(error) from error


def _parse(text: bytes) -> Dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError:
        line = None
    if not isinstance(line, dict):
        # cut off by a broken connection; the next connection sends it again
        raise EvalConnectionError("a line of the results is broken")
    return line


def _pause(error: EvalError, left: int) -> None:
    """Waits before the next try. Raises the error if no try is left, or if it would occur again."""
    refused = isinstance(error, EvalHTTPError) and error.status < 500 and error.status != 429
    if left <= 0 or refused:
        raise error
    time.sleep(min(getattr(error, "retry_after", None) or 1.0, LONGEST))
