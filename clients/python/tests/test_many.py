"""Tests of evaluate_many, with a server that gives the answers that a test sets."""

import asyncio
import io
import json
import threading
import unittest.mock

from warpboard import AsyncWarpboard, KernelEvalClient
from warpboard.progress import Bar

from .server import Answer, SiteTest, result

BATCH = "/api/v1/evaluations/batch"
KERNEL = {"kernel_type": "torch", "source_code": "x"}


def line(number, index, evaluation_id):
    done = {"id": evaluation_id, "state": "completed", "ended": True, "result": result(evaluation_id)}
    return {"number": number, "index": index, "evaluation": done}


def lines(*values, cut=""):
    text = "\n\n".join(json.dumps(value) for value in values) + "\n" + cut
    return Answer(text.encode(), headers={"Content-Type": "application/x-ndjson"})


class Many(SiteTest):
    def setUp(self):
        super().setUp()
        self.client = KernelEvalClient(self.site.url)
        taken = {"id": "b1", "taken": 2, "entries": [{"id": "e0"}, {"problem": {"detail": "no"}}, {"id": "e2"}]}
        self.site.answers[f"POST {BATCH}"] = Answer(taken, 202)
        self.site.answers[f"GET {BATCH}/b1/results?after=0"] = lines(
            line(1, 2, "e2"), line(2, 0, "e0"), {"number": 2, "index": 0, "end": True})
        self.site.answers[f"DELETE {BATCH}/b1"] = Answer(b"", 204)

    def states(self, answers):
        return [(answer["index"], answer["state"]) for answer in answers]

    def deleted(self):
        return [asked.path for asked in self.site.asked if asked.method == "DELETE"]

    def test_answers_come_in_the_order_of_requests(self):
        answers = list(self.client.evaluate_many([KERNEL, (KERNEL, KERNEL), KERNEL], num_trials=5))
        self.assertEqual(self.states(answers), [(0, "completed"), (1, "refused"), (2, "completed")])
        self.assertEqual(answers[0]["result"]["kernel_exec_result"]["runtime_stats"].mean, 0.5)
        requests = self.site.bodies(BATCH)[0]["requests"]
        self.assertEqual([sorted(one) for one in requests[:2]], [
            ["kernel", "num_trials", "timeout"], ["custom_kernel", "num_trials", "ref_kernel", "timeout"]])
        self.assertEqual(self.deleted(), [])

    def test_answers_come_as_they_end(self):
        answers = self.client.evaluate_many([KERNEL] * 3, ordered=False)
        self.assertEqual(self.states(answers), [(1, "refused"), (2, "completed"), (0, "completed")])

    def test_a_broken_connection_is_taken_up(self):
        self.site.answers[f"GET {BATCH}/b1/results?after=0"] = lines(line(1, 2, "e2"), cut='{"num')
        self.site.answers[f"GET {BATCH}/b1/results?after=1"] = lines(line(2, 0, "e0"), {"number": 2, "end": True})
        with unittest.mock.patch("time.sleep"):
            self.assertEqual(len(list(self.client.evaluate_many([KERNEL] * 3))), 3)

    def test_a_batch_that_is_sent_again_has_the_same_key(self):
        taken = self.site.answers[f"POST {BATCH}"]
        self.site.answers[f"POST {BATCH}"] = [Answer({"detail": "later"}, 503), taken]
        with unittest.mock.patch("time.sleep"):
            self.assertEqual(len(list(self.client.evaluate_many([KERNEL] * 3))), 3)
        keys = {asked.headers["Idempotency-Key"] for asked in self.site.asked if asked.path == BATCH}
        self.assertEqual((len(keys), None in keys), (1, False))

    def test_requests_are_taken_as_answers_are_read(self):
        taken = 0

        def requests():
            nonlocal taken
            for _ in range(30):
                taken += 1
                yield KERNEL

        answers = self.client.evaluate_many(requests(), chunk=3)
        next(answers)
        self.assertEqual(taken, 6)
        answers.close()
        self.assertEqual(self.deleted(), [f"{BATCH}/b1"] * 2)

    def test_what_another_thread_cancels_ends(self):
        many = self.client._many([KERNEL] * 3, True, 3, False, {})
        answers = iter(many)
        next(answers)
        many.cancel()
        list(answers)
        self.assertEqual(self.deleted(), [f"{BATCH}/b1"])

    def test_asyncio_has_the_same_answers(self):
        async def run():
            async with AsyncWarpboard(self.site.url) as site:
                return [answer async for answer in site.evaluate_many([KERNEL] * 3)]

        self.assertEqual(self.states(asyncio.run(run())), [(0, "completed"), (1, "refused"), (2, "completed")])

    def test_asyncio_cancels_what_is_left_when_the_reader_stops_before_the_client_is_closed(self):
        deleted = threading.Event()

        def delete(_):
            deleted.set()
            return Answer(b"", 204)

        self.site.answers[f"DELETE {BATCH}/b1"] = delete

        async def run():
            async with AsyncWarpboard(self.site.url) as site:
                async for _ in site.evaluate_many([KERNEL] * 3):
                    break

        asyncio.run(run())
        self.assertTrue(deleted.wait(10))

    def test_a_bar_is_drawn_where_it_is_wanted(self):
        with unittest.mock.patch("sys.stderr", io.StringIO()) as err:
            list(self.client.evaluate_many([KERNEL] * 3))
            self.assertEqual(err.getvalue(), "")
            list(self.client.evaluate_many([KERNEL] * 3, progress=True))
            self.assertIn("3/3, 1 without a result\n", err.getvalue())
        bar = Bar(None, False)
        bar.add({"state": "completed"})
        self.assertEqual(bar.text(), "1 evaluated")
