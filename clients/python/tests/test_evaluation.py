"""Tests of evaluations by the versioned API: submit, follow events over broken connections, cancel."""

import unittest

from warpboard import EvalFailedError, EvalHTTPError, EvalTimeoutError, KernelCode, KernelEvalClient, RuntimeStats

from .server import STATS, Answer, SiteTest, result, stream

KERNEL = KernelCode("x", "torch")
PATH = "/api/v1/evaluations"
ONE = PATH + "/e1"


def state(name, **more):
    return {"id": "e1", "state": name, "ended": name in ("completed", "failed", "timeout", "cancelled"), **more}


class Evaluations(SiteTest):
    def setUp(self):
        super().setUp()
        self.client = KernelEvalClient(self.site.url, token="t")
        self.site.answers = {
            f"POST {PATH}": Answer({**state("submitted"), "url": f"http://elsewhere{ONE}"}, 202),
            f"GET {ONE}": Answer(state("completed", result=result(ref=STATS))),
            f"POST {ONE}/cancel": Answer(state("cancelled")),
            f"GET {ONE}/events": stream(*enumerate(map(state, ("submitted", "profiling", "completed")), 1), end=True),
        }

    def connections(self):
        return [asked.headers.get("Last-Event-ID") for asked in self.site.asked if asked.path == ONE + "/events"]

    def test_submitting_returns_at_once_with_the_evaluation(self):
        evaluation = self.client.submit(KERNEL, num_trials=5, gpu_type="cpu")
        self.assertEqual((evaluation.id, evaluation.url), ("e1", self.site.url + ONE))
        self.client.submit_comparison(KERNEL, KERNEL, atol=0.5, timeout=9)
        one, two = self.site.bodies(PATH)
        self.assertEqual(one, {"kernel": KERNEL.to_dict(), "num_trials": 5, "timeout": 120, "gpu_type": "cpu"})
        kernels = {"ref_kernel": KERNEL.to_dict(), "custom_kernel": KERNEL.to_dict()}
        self.assertEqual(two, {**kernels, "timeout": 9, "atol": 0.5})

    def test_polling_has_the_result_with_its_stats(self):
        answer = self.client.evaluation("e1").poll()
        self.assertEqual(answer["result"]["ref_runtime"], RuntimeStats(**STATS))

    def test_waiting_tells_every_state_and_returns_the_result(self):
        seen = []
        answer = self.client.submit(KERNEL).wait(lambda event: seen.append(event["state"]))
        self.assertEqual(seen, ["submitted", "profiling", "completed"])
        self.assertEqual(answer["kernel_exec_result"]["runtime_stats"].mean, 0.5)

    def test_evaluate_and_compare_with_progress_return_what_they_do_without(self):
        seen = []
        self.site.answers["POST /compare"] = Answer(result(ref=STATS))
        plain = self.client.compare(KERNEL, KERNEL)
        told = self.client.compare(KERNEL, KERNEL, progress=seen.append)
        self.assertEqual(told, plain)
        self.assertEqual(len(seen), 3)
        self.assertEqual(self.site.bodies(PATH), self.site.bodies("/compare"))

    def test_a_broken_stream_is_taken_up_where_it_broke(self):
        running = Answer(state("profiling"))
        self.site.answers[f"GET {ONE}"] = [running, running, Answer(state("completed", result=result()))]
        self.site.answers[f"GET {ONE}/events"] = [
            stream((1, state("submitted"))), Answer({"detail": "restarting"}, 503), stream((2, state("compiling"))),
            stream((3, state("completed")), end=True),
        ]
        seen = []
        self.client.evaluation("e1").wait(lambda event: seen.append(event["state"]))
        self.assertEqual(seen, ["submitted", "compiling", "completed"])
        self.assertEqual(self.connections(), [None, "1", "1", "2"])

    def test_a_stream_that_ends_without_saying_so_is_not_asked_for_ever(self):
        self.site.answers[f"GET {ONE}/events"] = [stream((1, state("completed")))]
        self.assertEqual([event["state"] for event in self.client.evaluation("e1").events()], ["completed"])

    def test_an_evaluation_that_ends_without_a_result_is_an_error_that_says_why(self):
        self.site.answers[f"GET {ONE}"] = Answer(state("timeout", failure="The time limit was reached.", result=result()))
        with self.assertRaisesRegex(EvalFailedError, "evaluation e1: The time limit was reached.") as caught:
            self.client.evaluation("e1").wait()
        self.assertEqual(caught.exception.state, "timeout")
        self.assertTrue(caught.exception.answer["result"]["kernel_exec_result"]["compiled"])

    def test_an_unknown_evaluation_is_not_waited_for(self):
        self.site.answers[f"GET {ONE}/events"] = Answer({"detail": "There is no evaluation e1."}, 404)
        with self.assertRaises(EvalHTTPError) as caught:
            self.client.evaluation("e1").wait()
        self.assertEqual(caught.exception.message, "There is no evaluation e1.")
        self.assertEqual(len(self.connections()), 1)

    def test_waiting_ends_in_time_although_the_stream_lives(self):
        self.site.answers[f"GET {ONE}"] = Answer(state("profiling"))
        self.site.answers[f"GET {ONE}/events"] = stream()
        with self.assertRaisesRegex(EvalTimeoutError, "did not end within 0.05 seconds"):
            self.client.evaluation("e1").wait(timeout=0.05)

    def test_giving_up_an_evaluation_with_progress_cancels_it(self):
        def give_up(event):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.client.evaluate(KERNEL, progress=give_up)
        self.assertEqual(self.site.asked[-1].path, ONE + "/cancel")

    def test_cancelling_what_has_ended_is_a_conflict_and_dropping_it_is_not(self):
        self.assertEqual(self.client.evaluation("e1").cancel()["state"], "cancelled")
        self.site.answers[f"POST {ONE}/cancel"] = Answer({"detail": "Evaluation e1 has ended already."}, 409)
        with self.assertRaises(EvalHTTPError):
            self.client.evaluation("e1").cancel()
        self.client.evaluation("e1").drop()


if __name__ == "__main__":
    unittest.main()
