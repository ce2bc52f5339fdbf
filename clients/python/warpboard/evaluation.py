"""Evaluation, an evaluation on the server: poll it, follow its events, wait for it, cancel it."""

from __future__ import annotations

import urllib.parse
from typing import Any, Callable, Dict, Iterator, Optional

from .bodies import with_stats
from .errors import EvalConnectionError, EvalError, EvalFailedError, EvalTimeoutError, part
from .stream import Stream
from .transport import Transport

EVALUATIONS = "/api/v1/evaluations"
FINAL = {"completed", "failed", "timeout", "cancelled"}

Progress = Callable[[Dict[str, Any]], None]

_QUICK = 10  # timeout in seconds of calls that run no kernel


class Evaluation:
    """An evaluation on the server, identified by its id. Its state is submitted, compiling, validating or profiling,
    then one of FINAL."""

    def __init__(self, transport: Transport, evaluation_id: str) -> None:
        self._transport = transport
        self.id = evaluation_id
        self.url = transport.base_url + self._path

    def __repr__(self) -> str:
        return f"Evaluation({self.id!r})"

    def poll(self, wait: int = 0) -> Dict[str, Any]:
        """Returns the current state: {"id", "state", "ended", "device", …}, with "result" once there is one.

        If wait is set, to at most 50 seconds, it returns when the evaluation has ended, or after that time. The result
        is the value that KernelEvalClient.evaluate or compare returns.
        """
        path = f"{self._path}?wait={wait}" if wait else self._path
        return _handy(self._transport.call("GET", path, timeout=_QUICK + wait))

    def cancel(self) -> Dict[str, Any]:
        """Stops the evaluation and frees its device. Raises EvalHTTPError with status 409 if it has already ended."""
        return self._transport.call("POST", self._path + "/cancel", timeout=_QUICK)

    def share(self, shared: bool = True) -> Dict[str, Any]:
        """Lets anyone who has the id read the evaluation and its sources; with False, only you."""
        return self._transport.call("PATCH", self._path, {"shared": shared}, timeout=_QUICK)

    def drop(self) -> None:
        """Cancels the evaluation, and ignores errors."""
        try:
            self.cancel()
        except EvalError:
            pass

    def events(self, timeout: Optional[float] = None) -> Iterator[Dict[str, Any]]:
        """Yields the evaluation, in the form of poll, at every change until it has ended.

        Changes in quick succession may be skipped. After a broken connection, the stream is resumed where it broke.

        timeout is in seconds, for the whole stream. Raises EvalTimeoutError when it has passed.
        """
        stream = Stream(self._transport, self._path + "/events", timeout)
        while True:
            for message in stream.connect():
                if message.name == "end":
                    return
                if isinstance(message.data, dict):
                    yield _handy(message.data)
            if stream.closed and self._ended():
                return
            stream.pause()

    def wait(self, progress: Optional[Progress] = None, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Waits for the result; progress is called at every change, with the value of poll.

        Raises EvalFailedError if the evaluation ended without a result, and EvalTimeoutError after timeout
        seconds; the evaluation then continues.
        """
        for event in self.events(timeout):
            if progress is not None:
                progress(event)
        answer = self.poll()
        if answer.get("state") != "completed":
            raise EvalFailedError(answer)
        return part(answer, "result", dict)

    def _ended(self) -> bool:
        try:
            return self.poll().get("state") in FINAL
        except (EvalConnectionError, EvalTimeoutError):  # ignored: the next connection shows its state
            return False

    @property
    def _path(self) -> str:
        return f"{EVALUATIONS}/{urllib.parse.quote(self.id, safe='')}"


def _handy(answer: Dict[str, Any]) -> Dict[str, Any]:
    if isinstance(answer.get("result"), dict):
        with_stats(answer["result"])
    return answer
