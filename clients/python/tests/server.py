"""An HTTP server for tests: it gives the answers that a test sets, and records the requests."""

from __future__ import annotations

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Union

STATS = {"mean": 0.5, "std": 0.1, "min": 0.25, "max": 1.0, "median": 0.5, "percentile_95": 0.75, "percentile_99": 0.875}


class Asked(NamedTuple):
    """One received request; body is its parsed JSON."""

    method: str
    path: str
    headers: Any
    body: Any


class Answer(NamedTuple):
    """One answer; body is sent as JSON unless it is bytes."""

    body: Any
    status: int = 200
    headers: Dict[str, str] = {}


Handler = Union[Answer, Callable[[Asked], Answer]]


class Site(ThreadingHTTPServer):
    """The server. answers maps "METHOD /path" to an answer, a function, or a list of them, one for each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.answers: Dict[str, Union[Handler, List[Handler]]] = {}
        self.asked: List[Asked] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def find(self, asked: Asked) -> Answer:
        """Records a request and returns its answer: 404 if the test has set none."""
        self.asked.append(asked)
        found: Any = self.answers.get(f"{asked.method} {asked.path}", Answer({"detail": "Not Found"}, 404))
        if isinstance(found, list):
            found = found.pop(0)
        return found(asked) if callable(found) else found

    def bodies(self, path: str) -> List[Any]:
        """Returns the bodies of all requests to a path."""
        return [asked.body for asked in self.asked if asked.path == path]


class _Requests(BaseHTTPRequestHandler):
    server: Site

    def _handle(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.find(Asked(self.command, self.path, self.headers, json.loads(raw) if raw else None))
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _handle

    def log_message(self, format: str, *args: Any) -> None:
        pass


class SiteTest(unittest.TestCase):
    """A test case with a separate Site, self.site, for each test."""

    def setUp(self) -> None:
        self.site = Site()
        thread = threading.Thread(target=self.site.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)


def result(job_id: str = "j1", ref: Optional[Dict[str, float]] = None, **outcome: Any) -> Dict[str, Any]:
    """Returns an answer of /evaluate, or if ref is set, of /compare."""
    done = {"compiled": True, "correctness": True, "runtime": 0.5, "metadata": {"gpu_id": 0}, "runtime_stats": dict(STATS)}
    answer = {
        "job_id": job_id, "status": "success", "pod_name": "p", "pod_ip": "127.0.0.1", "gpu_type": "h200",
        "kernel_exec_result": {**done, **outcome},
    }
    return answer if ref is None else {**answer, "ref_runtime": ref}


def stream(*events: Any, end: bool = False) -> Answer:
    """Returns an event stream of (id, data) pairs, with heartbeats between them. If end is true, it has the final
    event."""
    blocks = ["retry: 1", *(f"id: {i}\ndata: {json.dumps(data)}\n\n:" for i, data in events)]
    text = "\n\n".join(blocks + (["event: end\ndata: "] if end else [])) + "\n\n"
    return Answer(text.encode(), headers={"Content-Type": "text/event-stream"})
