"""Tasks, boards, submissions and profiles, for callers that wait and for asyncio; against a site that records its
requests."""

import asyncio
import dataclasses
import os
import socket
import tempfile
import threading
import unittest
from collections.abc import Sequence

from warpboard import AsyncWarpboard, EvalFailedError, RefusedError, SiteConnectionError, SiteTimeoutError, Warpboard

from .server import Answer, SiteTest, result, stream

API = "/api/v1"
TIME = "2026-11-22T21:00:00.123456789Z"


def run(state, **more):
    return {"id": 7, "device": "CPU", "state": state, "attempts": 1, "queued": TIME, "stages": [], "a_field_of_tomorrow": 1, **more}


def submission(state, **more):
    return {"id": 3, "url": "u", "task": "sum", "version": 1, "mode": "ranked", "file_name": "a.cpp", "created": TIME,
            "user": {"id": 1, "name": "Ada"}, "ended": state in ("done", "failed"), "runs": [run(state, **more)]}


def entry(rank, name):
    return {"rank": rank, "user": {"id": rank, "name": name}, "submission_id": rank, "score_ns": 1500 * rank, "std_ns": 1,
            "err_ns": 1, "achieved": TIME, "interval_low": 1400.5}


def board(entries, page=1):
    return {"task": "sum", "version": 2, "device": "CPU", "change": 9, "total": 3, "page": page, "entries": entries}


FAILED = {"reason": "test took longer than 5 s", "limit": "wall"}
WAIT = f"GET {API}/submissions/3?wait=20"


class Sites(SiteTest):
    def setUp(self):
        super().setUp()
        self.client = Warpboard(self.site.url, token="t")

    def test_a_board_is_read_with_all_its_pages(self):
        self.site.answers[f"GET {API}/boards/sum/CPU?page=1"] = Answer(board([entry(1, "<Ada>"), entry(2, "Bob")]))
        self.site.answers[f"GET {API}/boards/sum/CPU?page=2"] = Answer(board([entry(3, "Cy")], 2))
        found = self.client.board("sum", "CPU")
        self.assertEqual([e.person for e in found], ["<Ada>", "Bob", "Cy"])
        self.assertEqual((found.version, found.total, found[0].interval_low, found[0].achieved.microsecond), (2, 3, 1400.5, 123456))
        self.assertIn("&lt;Ada&gt;", found._repr_html_())
        self.assertNotIn("<Ada>", found._repr_html_())
        self.assertIn("1     <Ada>   1.5 µs", repr(found))
        self.assertEqual(len(found[:2]), 2)

    def test_a_table_is_what_pandas_takes(self):
        # pandas.DataFrame accepts a sequence, and makes columns if its first element is a dataclass
        self.site.answers[f"GET {API}/boards/sum/CPU?page=1"] = Answer(board([entry(1, "Ada")]))
        found = self.client.board("sum", "CPU", page=1)
        self.assertIsInstance(found, Sequence)
        self.assertTrue(dataclasses.is_dataclass(found[0]))
        self.assertEqual(dataclasses.asdict(found[0])["person"], "Ada")
        self.assertEqual(found.to_dict()["score_ns"], [1500.0])

    def test_tasks_and_devices_are_tables_and_a_task_has_its_templates(self):
        task = {"slug": "sum", "title": "Sum", "lang": "cpp", "devices": ["CPU"], "deadline": TIME}
        whole = {**task, "version": 2, "description": "d", "tests": [{}], "templates": {"C++": {"name": "t.cpp", "text": "int"}}}
        self.site.answers = {
            f"GET {API}/tasks": Answer({"tasks": [task]}), f"GET {API}/tasks/a%2Fb": Answer(whole),
            f"GET {API}/devices": Answer({"devices": [{"device": "CPU", "slots": 2}]}),
        }
        self.assertEqual((self.client.tasks()[0].slug, self.client.tasks()[0].deadline.year), ("sum", 2026))
        self.assertEqual(self.client.task("a/b").templates["C++"].name, "t.cpp")
        self.assertEqual(self.client.devices()[0].slots, 2)

    def test_a_submission_is_sent_again_over_a_broken_connection_as_the_same_one(self):
        broken = Answer(b"{}", headers={"Content-Length": "100", "Connection": "close"})
        self.site.answers[f"POST {API}/submissions"] = [broken, Answer(submission("queued", position=2), 201)]
        made = self.client.submit("dir/a.cpp", source="int x;", task="sum", devices=["CPU"], mode="ranked", files={"b.h": "int y;"})
        self.assertEqual((made.id, made.ended, made.runs[0].outcome), (3, False, "place 2 of the queue"))
        first, second = self.site.asked
        self.assertEqual(first.body, {"task": "sum", "devices": ["CPU"], "mode": "ranked", "file_name": "a.cpp", "source": "int x;", "files": {"b.h": "int y;"}})
        self.assertEqual(first.headers["Idempotency-Key"], second.headers["Idempotency-Key"])
        self.assertEqual(first.headers["Authorization"], "Bearer t")

    def test_a_file_that_is_not_utf8_is_refused_with_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.cpp")
            with open(path, "wb") as file:
                file.write("int x;\n// café\n".encode("latin-1"))
            with self.assertRaisesRegex(ValueError, r"a\.cpp:2: the byte 0xE9 is not UTF-8 text: save the file as UTF-8"):
                self.client.submit(path, task="sum")
        self.assertEqual(self.site.asked, [])

    def test_a_members_board_is_joined_by_a_link_and_left(self):
        self.site.answers[f"POST {API}/join"] = Answer({"task": "quiet", "title": "Quiet", "devices": ["CPU"], "url": "u"})
        self.site.answers[f"DELETE {API}/tasks/quiet/membership"] = Answer({})
        self.assertEqual(self.client.join("https://site/join/wbi_x ").task, "quiet")
        self.assertEqual(self.site.bodies(f"{API}/join"), [{"code": "wbi_x"}])
        self.client.leave("quiet")
        self.assertEqual(self.site.asked[-1].method, "DELETE")

    def test_a_time_limit_is_an_answer(self):
        self.site.answers[WAIT] = [Answer(submission("testing")), Answer(submission("failed", failure=FAILED))]
        seen = []
        ended = self.client.wait(3, progress=lambda now: seen.append(now.runs[0].state))
        self.assertEqual((ended.ended, ended.passed, ended.run().failure.limit, seen), (True, False, "wall", ["testing", "failed"]))
        self.assertIn("test took longer than 5 s", ended._repr_html_())

    def test_waiting_ends_with_its_time(self):
        self.site.answers[f"GET {API}/submissions/3"] = Answer(submission("queued"))
        with self.assertRaisesRegex(SiteTimeoutError, "did not end within 0.1"):
            self.client.wait(3, timeout=0.1)

    def test_events_are_taken_up_where_they_broke(self):
        def event(i, state):
            return i, {"id": i, "run_id": 7, "device": "CPU", "type": "state", "state": state, "time": TIME}
        self.site.answers[f"GET {API}/submissions/3/events"] = [stream(event(1, "building")), stream(event(2, "done"), end=True)]
        self.assertEqual([event.state for event in self.client.events(3)], ["building", "done"])
        self.assertEqual(self.site.asked[1].headers["Last-Event-ID"], "1")

    def test_own_submissions_are_listed_over_pages(self):
        self.site.answers[f"GET {API}/submissions?task=sum&limit=2"] = Answer({"submissions": [submission("done")], "next": 3})
        self.site.answers[f"GET {API}/submissions?task=sum&before=3&limit=1"] = Answer({"submissions": [submission("done")]})
        self.assertEqual(len(self.client.submissions("sum", limit=2)), 2)

    def test_a_profile_shows_its_text_and_holds_its_data(self):
        path = "/submissions/3/runs/7/profile"
        self.site.answers = {
            f"GET {API}/submissions/3": Answer(submission("done")), f"GET {path}.txt?case=0": Answer("memory bound <b>".encode()),
            f"GET {path}.json?case=0": Answer({"device": "H200", "report": {"kernels": []}}),
        }
        found = self.client.profile(3)
        self.assertEqual((repr(found), found.device, found.data["report"]), ("memory bound <b>", "H200", {"kernels": []}))
        self.assertIn("&lt;b&gt;", found._repr_html_())

    def test_a_comparison_says_what_the_data_show(self):
        self.site.answers = {
            f"GET {API}/submissions/3": Answer(submission("done")),
            "GET /compare.json?a=7&b=7&case=0": Answer({
                "a": {"score_ns": 2000.0}, "b": {"score_ns": 1000.0}, "ratio": {"value": 0.5, "low": 0.4, "high": 0.6, "apart": True},
                "cases": [{"spec": "n: 1", "a": {"median": 2000.0}, "b": {"mean": 1000.0}, "ratio": {"value": 0.5}}, {"spec": "n: 2", "a": None, "b": None, "ratio": None}]}),
        }
        found = self.client.compare(3, 3)
        self.assertIn("A 2 µs, B 1 µs: B is faster, 0.500 times A's time", repr(found))
        self.assertEqual((found.ratio.low, found[0].a_ns, found[0].ratio, found[1].a_ns), (0.4, 2000.0, 0.5, None))

    def test_a_refusal_has_its_code(self):
        self.site.answers[f"GET {API}/me"] = Answer({"code": "signed_out", "detail": "Sign in.", "status": 401}, 401)
        with self.assertRaises(RefusedError) as caught:
            self.client.me()
        self.assertEqual((caught.exception.code, caught.exception.message), ("signed_out", "Sign in."))

    def test_an_answer_of_another_kind_of_site_is_said_to_be(self):
        self.site.answers[f"GET {API}/me"] = Answer({"hello": 1})
        with self.assertRaisesRegex(Exception, "not a User of a Warpboard site"):
            self.client.me()


class Async(SiteTest):
    def test_asyncio_does_the_same(self):
        def event(i, state):
            return i, {"id": i, "run_id": 7, "device": "CPU", "type": "state", "state": state, "time": TIME}
        self.site.answers = {
            f"POST {API}/submissions": Answer(submission("queued"), 201),
            f"GET {API}/submissions/3?wait=5": [Answer(submission("testing")), Answer(submission("done", score_ns=5.0))],
            f"GET {API}/submissions/3/events": stream(event(1, "done"), end=True),
            f"GET {API}/tasks": Answer({"tasks": []}),
            f"GET {API}/boards/sum/CPU?page=1": Answer(board([entry(1, "Ada")])),
        }

        async def session():
            async with AsyncWarpboard(self.site.url) as site:
                made = await site.submit("a.cpp", source="x", task="sum")
                events = [event.state async for event in site.events(made)]
                ended, tasks, found = await asyncio.gather(site.wait(made), site.tasks(), site.board("sum", "CPU", page=1))
                return events, ended.run().score_ns, len(tasks), found[0].person
        self.assertEqual(asyncio.run(session()), (["done"], 5.0, 0, "Ada"))

    def test_an_evaluation_that_ends_without_a_result_says_its_state(self):
        path = f"{API}/evaluations"
        self.site.answers[f"POST {path}"] = Answer({"id": "e1", "state": "submitted"}, 202)
        self.site.answers[f"GET {path}/e1?wait=5"] = [
            Answer({"id": "e1", "state": "compiling", "ended": False}), Answer({"id": "e1", "state": "timeout", "ended": True}),
            Answer({"id": "e1", "state": "completed", "ended": True, "result": result()})]

        async def session():
            async with AsyncWarpboard(self.site.url) as site:
                with self.assertRaises(EvalFailedError) as caught:
                    await site.evaluate_kernel({"source_code": "x", "kernel_type": "torch"})
                answer = await site.evaluate_kernel({"source_code": "x", "kernel_type": "torch"})
                return caught.exception.state, answer["kernel_exec_result"]["runtime_stats"].mean
        self.assertEqual(asyncio.run(session()), ("timeout", 0.5))

    def test_a_task_that_is_cancelled_cancels_its_evaluation(self):
        path, asked, cancelled = f"{API}/evaluations", threading.Event(), threading.Event()

        def slow(_):
            asked.set()
            cancelled.wait(10)
            return Answer({"id": "e1", "state": "cancelled", "ended": True})

        def cancel(_):
            cancelled.set()
            return Answer({"id": "e1", "state": "cancelled"})
        self.site.answers = {f"POST {path}": Answer({"id": "e1", "state": "submitted"}, 202),
                             f"GET {path}/e1?wait=5": slow, f"POST {path}/e1/cancel": cancel}

        async def session():
            async with AsyncWarpboard(self.site.url) as site:
                task = asyncio.ensure_future(site.evaluate_kernel({"source_code": "x", "kernel_type": "torch"}))
                await asyncio.get_running_loop().run_in_executor(None, asked.wait, 10)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
        asyncio.run(session())
        self.assertTrue(cancelled.wait(10))

    def test_nobody_there_is_a_connection_error(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with self.assertRaises(SiteConnectionError):
            asyncio.run(AsyncWarpboard(url).tasks())


if __name__ == "__main__":
    unittest.main()
