"""The client's exceptions. All are WarpboardErrors; the names with Eval come from the older client."""

from __future__ import annotations

import json
from email.message import Message
from typing import Any, Dict, Mapping, Optional, Type, TypeVar, Union

T = TypeVar("T")


DIGITS = 9  # most digits of a time that a server sends; more digits would mean years


class WarpboardError(Exception):
    """Anything that went wrong between the client and the server."""


class SiteConnectionError(WarpboardError, ConnectionError):
    """The server could not be reached, or closed the connection before it had answered."""


class SiteTimeoutError(WarpboardError, TimeoutError):
    """The server did not answer in time. The evaluation may still run."""


class RefusedError(WarpboardError):
    """The server answered with an error.

    status is the HTTP status. body is the parsed JSON, or the text if it is not JSON. message is its error message, and
    code the error's name for programs, such as "deadline_passed", or empty. retry_after is the number of seconds after
    which to try again, or None if the server states none.
    """

    def __init__(self, status: int, body: Any, headers: Union[Mapping[str, str], Message, None] = None) -> None:
        self.status = status
        self.body = body
        self.message = _sentence(body)
        self.code = str(body.get("code") or "") if isinstance(body, dict) else ""
        self.retry_after = _seconds(headers["Retry-After"] if headers and "Retry-After" in headers else None)
        super().__init__(f"HTTP {status}: {self.message}")


class EvalFailedError(WarpboardError):
    """An evaluation ended without a result: it was cancelled, ran out of time, or had an infrastructure error.

    state is "cancelled", "timeout" or "failed". answer is the last value of Evaluation.poll, perhaps with a partial
    result. A kernel that does not compile or is wrong is a result, not an error.
    """

    def __init__(self, answer: Dict[str, Any]) -> None:
        self.answer = answer
        self.state = str(answer.get("state"))
        super().__init__(f"evaluation {answer.get('id')}: {answer.get('failure') or self.state}")


EvalError = WarpboardError
EvalConnectionError = SiteConnectionError
EvalTimeoutError = SiteTimeoutError
EvalHTTPError = RefusedError


def part(answer: Any, name: str, kind: Type[T]) -> T:
    """Returns a field of an answer. Raises WarpboardError if it is missing, or has another type."""
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, kind):
        raise WarpboardError(f"the answer of the server has no {name}")
    return value


def without_result(error: RefusedError) -> WarpboardError:
    """Returns EvalFailedError for a blocking call whose evaluation ended without a result, otherwise the error itself."""
    body = error.body
    if error.status != 500 or not isinstance(body, dict) or not body.get("job_id"):
        return error
    timed_out = error.message.startswith("Job timed out after")  # for servers that send no state
    state = body.get("state") or ("timeout" if timed_out else None)
    if state is None:
        return error
    answer = {"id": body["job_id"], "state": state, "ended": True, "failure": error.message}
    if body.get("partial_result"):
        answer["result"] = {"job_id": body["job_id"], "kernel_exec_result": body["partial_result"]}
    return EvalFailedError(answer)


def parse_body(raw: bytes) -> Any:
    """Returns an answer's JSON, or its text if it is not JSON."""
    text = raw.decode("utf-8", errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _sentence(body: Any) -> str:
    """Returns the message in an error body: "error" with "validation_errors", "detail", or plain text."""
    if not isinstance(body, dict):
        text = str(body).strip()
        if text[:9].lower().startswith(("<!doctype", "<html")):
            return "the answer is a web page, of a proxy or of another site"
        return text[:300] or "no message"
    message = body.get("error") or body.get("detail") or "no message"
    if isinstance(message, list):  # the server's answer if the request's body was not a JSON object
        message = "; ".join(str(e.get("msg", e)) if isinstance(e, dict) else str(e) for e in message)
    found = [_problem(e) for e in _list(body.get("validation_errors")) if isinstance(e, dict)]
    return f"{message} ({'; '.join(found)})" if found else str(message)


def _problem(found: Dict[str, Any]) -> str:
    text = f"{found.get('field')}: {found.get('message')}"
    return f"{text}; {found['hint']}" if found.get("hint") else text


def _seconds(value: Optional[str]) -> Optional[int]:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) <= DIGITS else None


def _list(value: Any) -> Any:
    return value if isinstance(value, list) else ()
