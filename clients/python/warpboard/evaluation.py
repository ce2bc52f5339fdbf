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

_QUICK = 10  # seconds for calls that run no kernel


class Evaluation:
    """An evaluation by its id. Its state is submitted, compiling, validating or profiling, then one of FINAL."""

    def __init__(self, transport: Transport, evaluation_id: str) -> None:
        self._transport = transport
        self.id = evaluation_id
        self.url = transport.base_url + self._path

    def __repr__(self) -> str:
        return f"Evaluation({self.id!r})"

    def poll(self, wait: int = 0) -> Dict[str, Any]:
        """Returns the current state: {"id", "state", "ended", "device", …}, with "result" once there is one.

        With wait, up to 50 s, it answers when the evaluation has ended or else after that time. The result is what
        KernelEvalClient.evaluate and compare return.
        """
        path = f"{self._path}?wait={wait}" if wait else self._path
        return _handy(self._transport.call("GET", path, timeout=_QUICK + wait))

    def cancel(self) -> Dict[str, Any]:
        """Stops the evaluation and frees its device. EvalHTTPError 409: it has ended already."""
        return self._transport.call("POST", self._path + "/cancel", timeout=_QUICK)

    def share(self, shared: bool = True) -> Dict[str, Any]:
        """Lets anyone who has the id read the evaluation and its sources, or, with False, only you."""
        return self._transport.call("PATCH", self._path, {"shared": shared}, timeout=_QUICK)

    def drop(self) -> None:
        """Cancels if possible, without an error otherwise."""
        try:
            self.cancel()
        except EvalError:
            pass

    def events(self, timeout: Optional[float] = None) -> Iterator[Dict[str, Any]]:
        """Yields the evaluation, in the form of poll, at every change until it has ended.

        Changes that come too fast may be left out. A broken stream is taken up where it broke.

        timeout is in seconds for all of them; EvalTimeoutError when it is over.
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

        Raises EvalFailedError when the evaluation ended without one, and EvalTimeoutError after timeout
        seconds; the evaluation then goes on.
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
        except (EvalConnectionError, EvalTimeoutError):  # the next connection shows it
            return False

    @property
    def _path(self) -> str:
        return f"{EVALUATIONS}/{urllib.parse.quote(self.id, safe='')}"


def _handy(answer: Dict[str, Any]) -> Dict[str, Any]:
    if isinstance(answer.get("result"), dict):
        with_stats(answer["result"])
    return answer
