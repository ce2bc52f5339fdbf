"""Tests that the client raises a WarpboardError, in limited time and memory, for any answer of a broken or hostile
server."""

import unittest
from unittest import mock

from warpboard import RefusedError, Warpboard
from warpboard import sse, transport
from warpboard.errors import WarpboardError
from warpboard.stream import Stream

from .server import Answer, SiteTest

API = "/api/v1"
DEEP = b"[" * 200_000


class Hostile(SiteTest):
    def setUp(self):
        super().setUp()
        self.warpboard = Warpboard(self.site.url, "secret")

    def fails(self, path, answer, call, kind=WarpboardError):
        """Returns the error that a call raises if the server gives this answer."""
        self.site.answers[path] = answer
        with self.assertRaises(kind) as found:
            call()
        return found.exception

    def test_answers_of_another_shape_are_errors(self):
        kernels = self.warpboard.kernels
        for path, body, call in [
            ("GET /me", DEEP, self.warpboard.me),
            ("GET /devices", {"devices": 5}, self.warpboard.devices),
            ("GET /boards/t/d?page=1", {"total": 1, "entries": 5}, lambda: self.warpboard.board("t", "d")),
            ("GET /boards/t/d?page=1", {"total": 1, "entries": [{}]}, lambda: self.warpboard.board("t", "d")),
            ("GET /boards/t/d?page=1", {"total": 1, "entries": []}, lambda: self.warpboard.board("t", "d")),
            ("GET /evaluations?page=1", {}, kernels.list_evaluations),
            ("POST /evaluations", {}, lambda: kernels.submit({})),
        ]:
            method, address = path.split()
            with self.subTest(path, body=str(body)[:30]):
                self.fails(f"{method} {API}{address}", Answer(body), call)

    def test_refusals_of_another_shape_are_refusals(self):
        for body, headers in [
            (DEEP, {}),
            (b"cut", {"Content-Length": "50"}),
            (b"zz\r\n", {"Content-Length": "", "Transfer-Encoding": "chunked"}),
            ({"validation_errors": 5}, {}),
            ({}, {"Retry-After": "9" * 5000}),
            ({}, {"Retry-After": "\u00b2"}),
        ]:
            with self.subTest(str(body)[:30], headers=str(headers)[:40]):
                error = self.fails(f"GET {API}/me", Answer(body, 500, headers), self.warpboard.me, RefusedError)
                self.assertIsNone(error.retry_after)

    def test_an_answer_without_an_end_is_given_up(self):
        with mock.patch.object(transport, "LARGEST", 1000):
            error = self.fails(f"GET {API}/me", Answer(b"x" * 1001), self.warpboard.me)
        self.assertIn("more than", str(error))

    def test_an_event_without_an_end_is_given_up(self):
        with mock.patch.object(sse, "LARGEST_EVENT", 1000):
            for lines in ([b"data: " + b"x" * 1000], [b"data: x\n"] * 200):
                with self.assertRaises(WarpboardError):
                    list(sse.messages(lines))

    def test_redirects_lead_to_web_servers_only(self):
        for target in ("ftp://127.0.0.1:9/x", "file:///etc/passwd"):
            error = self.fails(f"GET {API}/me", Answer({}, 302, {"Location": target}), self.warpboard.me, RefusedError)
            self.assertEqual(error.status, 302)

    def test_pages_without_an_end_are_given_up(self):
        self.site.answers[f"GET {API}/submissions?limit=50"] = Answer({"submissions": [], "next": 1})
        self.assertEqual(len(self.warpboard.submissions()), 0)

    def test_a_wait_that_is_answered_at_once_is_repeated_each_second(self):
        found = {"id": 1, "url": "u", "task": "t", "mode": "m", "created": "2026-01-01T00:00:00Z", "ended": False}
        for path in (f"GET {API}/submissions/1?wait={wait}" for wait in (1, 2)):
            self.site.answers[path] = Answer(found)
        with self.assertRaises(WarpboardError):
            self.warpboard.wait(1, timeout=2)
        self.assertLess(len(self.site.asked), 5)


class Streams(unittest.TestCase):
    def test_what_a_stream_cannot_mean_is_left_out(self):
        for line in ("retry: " + "9" * 5000, "retry: \u00b2", "id: \u20ac", "id: a\rb"):
            self.assertEqual(list(sse.messages([line.encode() + b"\n", b"\n"])), [], line[:20])
        self.assertIsInstance(next(sse.messages([b"data: " + DEEP + b"\n", b"\n"])).data, str)

    def test_pauses_have_bounds(self):
        stream = Stream(transport.Transport("http://127.0.0.1:9"), "/")
        for wished, given in ((0, 0.1), (250, 0.25), (999_999_999, 60)):
            stream._note(sse.Message(retry=wished))
            self.assertEqual(stream._pause, given)


if __name__ == "__main__":
    unittest.main()
