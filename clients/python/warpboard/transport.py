"""HTTP with the standard library: one request, one parsed answer."""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Optional, Tuple

from .errors import EvalConnectionError, EvalError, EvalHTTPError, EvalTimeoutError, parse_body
from .version import __version__

KEY = "X-Evaluation-Key"
DEFAULT_URL = "http://localhost:8000"
LARGEST = 256 << 20  # most bytes of an answer; Warpboard never sends more
LARGEST_ERROR = 1 << 20  # most bytes that are read of an error response
SLOWEST = 600  # most seconds to receive the rest of an answer, in addition to the timeout
LARGE = 1 << 20  # if a larger request (in bytes) breaks the connection, its size is the likely reason


class Transport:
    """The connection to one server.

    Without base_url, it uses the environment's WARPBOARD_SERVER, then http://localhost:8000. Without token, it uses
    the environment's WARPBOARD_TOKEN, but only for the server above, so that the token is never sent to another one.
    Without a token, the server answers with a key that identifies the caller, which is sent with later requests.
    """

    def __init__(self, base_url: Optional[str] = None, token: Optional[str] = None, key: Optional[str] = None) -> None:
        home = os.environ.get("WARPBOARD_SERVER") or DEFAULT_URL
        self.base_url = (base_url or home).rstrip("/")
        if token is None and _address(self.base_url) == _address(home):
            token = os.environ.get("WARPBOARD_TOKEN")
        if "@" in urllib.parse.urlsplit(self.base_url).netloc:
            raise ValueError("the address of a server cannot have a name and password: send a token instead")
        self._token = _sendable("token", token)
        self.key = _sendable("key", key)
        self._opener = urllib.request.build_opener(_Redirects)

    def call(
        self, method: str, path: str, body: Any = None, timeout: float = 10, headers: Optional[Dict[str, str]] = None
    ) -> Dict[str, Any]:
        """Sends a request, and returns the JSON object in the answer. timeout limits the seconds without data.

        Raises EvalHTTPError for a status of 400 or more, EvalTimeoutError, EvalConnectionError, and
        EvalError when the answer is not a JSON object.
        """
        answer = parse_body(self.read(method, path, body, timeout, headers))
        if not isinstance(answer, dict):
            raise EvalError(f"{self.base_url}{path} did not answer with JSON; is it an evaluation server?")
        if answer.get("status") == "error" and "kernel_exec_result" in answer:
            # the status is 200, because the server had to begin the answer before it had the result
            raise EvalHTTPError(500, answer)
        return answer

    def read(
        self, method: str, path: str, body: Any = None, timeout: float = 10, headers: Optional[Dict[str, str]] = None
    ) -> bytes:
        """Sends a request, and returns the bytes of the answer. Raises the same errors as call."""
        with self.open(method, path, body, timeout, headers) as response:
            try:
                return self._body(response, time.monotonic() + timeout + SLOWEST)
            except (OSError, http.client.HTTPException) as error:
                raise self.failure(error) from error

    def _body(self, response: http.client.HTTPResponse, end: float) -> bytes:
        """Reads the answer within limits of size and time: a broken server may send without end, or a byte now and
        then."""
        parts, size, expected = [], 0, response.length
        while expected is None or size < expected:
            part = response.read1(1 << 16)
            if time.monotonic() > end:
                raise socket.timeout
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise EvalError(f"{self.base_url} answered with more than {LARGEST >> 20} MiB")
        if expected is not None and size < expected:
            raise http.client.IncompleteRead(b"", expected - size)
        return b"".join(parts)

    def open(
        self, method: str, path: str, body: Any = None, timeout: float = 10, headers: Optional[Dict[str, str]] = None
    ) -> http.client.HTTPResponse:
        """Sends a request, and returns the response, which the caller must read and close. Raises the same errors as
        call."""
        data = b"" if method == "POST" else None
        if body is not None:
            data = json.dumps(body, allow_nan=False).encode("utf-8")
        request = urllib.request.Request(self.base_url + path, data=data, method=method, headers=headers or {})
        request.add_header("User-Agent", f"warpboard-python/{__version__}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if self._token:  # unredirected: a redirect to another server must not get it
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        elif self.key:
            request.add_unredirected_header(KEY, self.key)
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=timeout)
            self.key = response.headers.get(KEY) or self.key
            return response
        except urllib.error.HTTPError as error:
            with error:
                self.key = error.headers.get(KEY) or self.key
                raise EvalHTTPError(error.code, parse_body(_beginning(error)), error.headers) from None
        except (OSError, http.client.HTTPException) as error:
            raise self.failure(error, len(data or b"")) from error

    def failure(self, error: Exception, sent: int = 0) -> EvalError:
        """Returns the exception for a failed connection: a timeout or a broken connection. sent is the request's size."""
        reason = getattr(error, "reason", error)
        if isinstance(reason, socket.timeout):
            return EvalTimeoutError(f"{self.base_url} did not answer in time")
        if sent >= LARGE and isinstance(reason, (BrokenPipeError, ConnectionResetError)):
            return EvalConnectionError(
                f"{self.base_url} hung up on a request of {sent / 1e6:.1f} MB; it is probably larger than the server takes"
                + ("" if self._token else " without a token"))
        return EvalConnectionError(f"{self.base_url} cannot be reached: {reason or type(reason).__name__}")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects only to web servers; urllib would also use FTP servers."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urllib.parse.urlsplit(newurl).scheme not in ("http", "https"):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _beginning(error: urllib.error.HTTPError) -> bytes:
    """Returns the body of an error response, or its beginning, or b"" if reading fails."""
    try:
        return error.read(LARGEST_ERROR)
    except (OSError, http.client.HTTPException):
        return b""


def _sendable(what: str, secret: Optional[str]) -> Optional[str]:
    """Returns a secret without surrounding spaces and line breaks. Raises ValueError for invalid characters, because
    http.client would show the secret in its own error."""
    secret = secret and secret.strip()
    if secret and not (secret.isascii() and secret.isprintable()):
        raise ValueError(f"the {what} contains a line break or another invalid character: copy it again")
    return secret


def _address(url: str) -> Tuple[str, str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")
