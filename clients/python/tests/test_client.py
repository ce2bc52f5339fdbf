"""Tests that the documented methods send the documented bodies and return the documented answers."""

import os
import socket
import struct
import threading
import unittest
from unittest import mock

from warpboard import (
    EvalConnectionError, EvalError, EvalFailedError, EvalHTTPError, EvalTimeoutError, KernelCode, KernelEvalClient, RuntimeStats,
)

from .server import STATS, Answer, SiteTest, result

KERNEL = KernelCode("class Model: pass", "torch")


def hang_up(listener):
    """Accepts a connection and resets it without reading the request, as a server does if the body is too large."""
    connection, _ = listener.accept()
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Documented(SiteTest):
    def setUp(self):
        super().setUp()
        self.client = KernelEvalClient(self.site.url + "/", timeout=60)

    def test_evaluate_sends_the_kernel_and_its_limits(self):
        self.site.answers["POST /evaluate"] = Answer(result())
        answer = self.client.evaluate(KERNEL)
        self.assertEqual(self.site.bodies("/evaluate"), [{"kernel": KERNEL.to_dict(), "num_trials": 100, "timeout": 60}])
        self.assertEqual(answer["kernel_exec_result"]["runtime_stats"], RuntimeStats(**STATS))
        self.assertEqual((answer["status"], answer["kernel_exec_result"]["runtime"]), ("success", 0.5))

    def test_compare_sends_both_kernels_and_the_tolerances_that_are_given(self):
        self.site.answers["POST /compare"] = Answer(result(ref=STATS))
        self.client.compare(KERNEL, {"source_code": "y", "kernel_type": "torch"}, 7, 30)
        answer = self.client.compare(KERNEL, KERNEL, atol=0.0, rtol=1e-5, reuse_reference=True)
        first, second = self.site.bodies("/compare")
        kernels = {"ref_kernel": KERNEL.to_dict(), "custom_kernel": {"source_code": "y", "kernel_type": "torch"}}
        self.assertEqual(first, {**kernels, "num_trials": 7, "timeout": 30})
        self.assertEqual((second["atol"], second["rtol"], second["reuse_reference"]), (0.0, 1e-5, True))
        self.assertEqual(answer["ref_runtime"].percentile_95, 0.75)

    def test_what_was_not_timed_stays_as_the_server_says(self):
        failed = result(ref=dict.fromkeys(STATS, 0.0), compiled=False, compilation_error="no")
        del failed["kernel_exec_result"]["runtime_stats"]
        self.site.answers["POST /compare"] = Answer(failed)
        answer = self.client.compare(KERNEL, KERNEL)
        self.assertNotIn("runtime_stats", answer["kernel_exec_result"])
        self.assertEqual(answer["ref_runtime"], RuntimeStats(0, 0, 0, 0, 0))

    def test_options_reach_the_server_and_unknown_ones_do_not(self):
        self.site.answers["POST /evaluate"] = Answer(result())
        options = {"gpu_type": "h200", "l2_flush": False, "collect_device_metrics": True, "ncu_sections": ["LaunchStats"]}
        self.client.evaluate(KERNEL, **options)
        body = self.site.bodies("/evaluate")[0]
        self.assertEqual({name: body[name] for name in options}, options)
        with self.assertRaisesRegex(TypeError, "unknown option atol"):
            self.client.evaluate(KERNEL, atol=0.1)

    def test_the_small_calls_ask_their_addresses(self):
        answers = {
            "GET /health": {"status": "healthy"}, "GET /stats": {"job_stats": {}}, "GET /job/a%2Fb": {"status": "profiling"},
            "POST /admin/cleanup-jobs": {"status": "cleanup_completed"},
            "GET /api/v1/evaluations?page=2": {"evaluations": [{"id": "e"}]},
        }
        self.site.answers = {asked: Answer(body) for asked, body in answers.items()}
        with self.client as client:
            got = [client.health_check(), client.get_stats(), client.get_job_status("a/b"), client.cleanup_jobs()]
            self.assertEqual(client.list_evaluations(2), [{"id": "e"}])
        self.assertEqual(got, list(answers.values())[:4])


    def test_compile_returns_the_compilation(self):
        done = {"id": "e", "state": "completed", "result": {"kernel_exec_result": {"compilation": {"file": "kernel.cpp"}}}}
        self.site.answers = {"POST /api/v1/compile": Answer(done)}
        self.assertEqual(self.client.compile("int x;", "cpp", gpu_type="cpu"), {"file": "kernel.cpp"})
        self.assertEqual(self.site.bodies("/api/v1/compile"), [{"source_code": "int x;", "kernel_type": "cpp", "gpu_type": "cpu"}])
        self.site.answers = {"POST /api/v1/compile": Answer({"id": "e", "state": "submitted"})}
        with self.assertRaisesRegex(EvalFailedError, "evaluation e: submitted"):
            self.client.compile("int x;", task="sum")


class Failures(SiteTest):
    def refused(self, body, status, headers=None):
        self.site.answers["POST /evaluate"] = Answer(body, status, headers or {})
        with self.assertRaises(EvalHTTPError) as caught:
            KernelEvalClient(self.site.url).evaluate(KERNEL)
        return caught.exception

    def test_an_answer_that_had_begun_before_it_failed_is_an_error(self):
        body = {"status": "error", "error": "The site is being restarted.", "job_id": "e1", "kernel_exec_result": {}}
        error = self.refused(body, 200)
        self.assertEqual((error.status, error.body, error.message), (500, body, "The site is being restarted."))

    def test_an_error_has_the_servers_status_body_and_sentence(self):
        missing = {"field": "kernel -> io", "message": "Field required", "type": "missing"}
        bodies = [
            (400, {"error": "num_trials must be at least 1", "details": {"num_trials": 0}}, "num_trials must be at least 1"),
            (400, {"error": "Invalid request format", "validation_errors": [missing]},
             "Invalid request format (kernel -> io: Field required)"),
            (404, {"detail": "Not Found"}, "Not Found"),
            (422, {"detail": [{"type": "json_invalid", "msg": "JSON decode error"}]}, "JSON decode error"),
            (500, {"kernel_exec_result": {}, "error": "No GPU available within 300 seconds"}, "No GPU available within 300 seconds"),
            (400, {"error": "Invalid request format", "validation_errors": [{**missing, "hint": "did you mean io?"}]},
             "Invalid request format (kernel -> io: Field required; did you mean io?)"),
        ]
        for status, body, sentence in bodies:
            with self.subTest(sentence):
                error = self.refused(body, status)
                self.assertEqual((error.status, error.body, error.message), (status, body, sentence))
                self.assertEqual(str(error), f"HTTP {status}: {sentence}")

    def test_a_time_limit_is_no_http_error(self):
        known = {"kernel_exec_result": {}, "error": "Job timed out after 5 seconds", "status": "error", "job_id": "j"}
        told = {**known, "state": "timeout", "partial_result": {"compiled": True}}
        # 200 if the server began to answer before the time limit
        for status, body in ((500, known), (200, known), (200, told), (500, told)):
            self.site.answers["POST /evaluate"] = Answer(body, status)
            with self.assertRaisesRegex(EvalFailedError, "evaluation j: Job timed out after 5 seconds") as caught:
                KernelEvalClient(self.site.url).evaluate(KERNEL)
            self.assertEqual((caught.exception.state, caught.exception.answer["id"]), ("timeout", "j"))
        self.assertTrue(caught.exception.answer["result"]["kernel_exec_result"]["compiled"])

    def test_retry_after_is_kept(self):
        self.assertEqual(self.refused({"error": "slow down"}, 429, {"Retry-After": "2"}).retry_after, 2)
        self.assertIsNone(self.refused({"error": "no"}, 401).retry_after)

    def test_an_error_that_is_no_json_is_text(self):
        self.assertEqual(self.refused(b"Bad Gateway", 502).body, "Bad Gateway")

    def test_an_error_that_is_a_page_is_not_printed(self):
        for page in (b"<!doctype html>\n<html lang=en>", b"<html>\r\n<head><title>502</title>"):
            self.assertEqual(self.refused(page, 502).message, "the answer is a web page, of a proxy or of another site")

    def test_an_answer_that_is_no_json_object_is_said_to_be_no_server_of_this_kind(self):
        for content in (b"<html>", b"[]"):
            self.site.answers["GET /health"] = Answer(content)
            with self.assertRaisesRegex(EvalError, "is it an evaluation server"):
                KernelEvalClient(self.site.url).health_check()

    def test_nobody_there_is_a_connection_error(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with self.assertRaisesRegex(EvalConnectionError, "cannot be reached"):
            KernelEvalClient(url).health_check()

    def test_a_request_that_is_too_large_is_said_to_be(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = threading.Thread(target=hang_up, args=(listener,))
            server.start()
            client = KernelEvalClient(f"http://127.0.0.1:{listener.getsockname()[1]}")
            with self.assertRaisesRegex(EvalConnectionError, r"hung up on a request of 8\.4 MB; it is probably larger than the server takes without a token"):
                client.evaluate(KernelCode("x" * (8 << 20), "torch"))
            server.join()

    def test_an_answer_that_breaks_off_is_a_connection_error(self):
        self.site.answers["GET /health"] = Answer(b"{}", headers={"Content-Length": "100", "Connection": "close"})
        with self.assertRaises(EvalConnectionError):
            KernelEvalClient(self.site.url).health_check()

    def test_the_socket_waits_longer_than_the_server(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            client = KernelEvalClient(f"http://127.0.0.1:{deaf.getsockname()[1]}", wait=-119.9)
            with self.assertRaises(EvalTimeoutError):
                client.evaluate(KERNEL)  # the client waits 120 - 119.9 = 0.1 s
        self.assertGreater(KernelEvalClient("http://x").wait, 300)


class Tokens(SiteTest):
    def sent(self, environment, *arguments, **keywords):
        self.site.answers["GET /health"] = Answer({})
        with mock.patch.dict(os.environ, environment, clear=True):
            KernelEvalClient(*arguments, **keywords).health_check()
        return self.site.asked[-1].headers.get("Authorization")

    def test_the_token_is_sent_as_bearer(self):
        self.assertEqual(self.sent({}, self.site.url, token="t"), "Bearer t")
        self.assertIsNone(self.sent({}, self.site.url))

    def test_no_error_repeats_a_token_or_a_password(self):
        with self.assertRaisesRegex(ValueError, "line break") as raised:
            KernelEvalClient(self.site.url, token="wb_secret\nx")
        self.assertNotIn("wb_secret", str(raised.exception))
        with self.assertRaisesRegex(ValueError, "name and password") as raised:
            KernelEvalClient("http://ada:secret@127.0.0.1:1")
        self.assertNotIn("secret", str(raised.exception))

    def test_a_line_end_behind_a_token_is_not_of_it(self):
        self.assertEqual(self.sent({}, self.site.url, token="t\n"), "Bearer t")
        self.assertEqual(self.sent({"WARPBOARD_SERVER": self.site.url, "WARPBOARD_TOKEN": "t\r\n"}), "Bearer t")

    def test_the_environments_token_goes_to_the_environments_server_only(self):
        home = {"WARPBOARD_SERVER": self.site.url, "WARPBOARD_TOKEN": "t"}
        self.assertEqual(self.sent(home), "Bearer t")
        self.assertEqual(self.sent(home, self.site.url + "/"), "Bearer t")
        self.assertIsNone(self.sent({**home, "WARPBOARD_SERVER": "http://127.0.0.1:1"}, self.site.url))
        self.assertIsNone(self.sent({"WARPBOARD_TOKEN": "t"}, self.site.url))

    def test_a_client_without_a_token_is_known_by_the_key_that_it_was_given(self):
        self.site.answers["POST /evaluate"] = Answer(result(), headers={"X-Evaluation-Key": "k"})
        self.site.answers["GET /health"] = Answer({})
        with mock.patch.dict(os.environ, {}, clear=True):
            first = KernelEvalClient(self.site.url)
            first.evaluate(KERNEL)
            first.health_check()
            KernelEvalClient(self.site.url, key=first.key).health_check()
            KernelEvalClient(self.site.url, token="t", key=first.key).health_check()
        self.assertEqual([asked.headers.get("X-Evaluation-Key") for asked in self.site.asked], [None, "k", "k", None])

    def test_a_refusal_brings_a_key_too(self):
        self.site.answers["POST /evaluate"] = Answer({"error": "restarting"}, 503, {"X-Evaluation-Key": "k"})
        client = KernelEvalClient(self.site.url)
        with self.assertRaises(EvalHTTPError):
            client.evaluate(KERNEL)
        self.assertEqual(client.key, "k")

    def test_a_redirect_does_not_carry_the_token_away(self):
        self.site.answers["GET /elsewhere"] = Answer({})
        self.site.answers["GET /health"] = Answer({}, 302, {"Location": self.site.url + "/elsewhere"})
        KernelEvalClient(self.site.url, token="t").health_check()
        self.assertEqual([asked.headers.get("Authorization") for asked in self.site.asked], ["Bearer t", None])


if __name__ == "__main__":
    unittest.main()
