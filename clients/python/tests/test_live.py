"""The client against a real server: python3 -m unittest tests.test_live, with WARPBOARD_URL set.

WARPBOARD_TOKEN is the token, if the server wants one, and WARPBOARD_GPU the device (cpu). The device's
worker needs PyTorch. Without WARPBOARD_URL this module has no tests, because skipped tests would look like passed ones.
"""

import os
import unittest

from warpboard import (
    EvalFailedError, EvalHTTPError, IOContractBuilder, KernelCode, KernelEvalClient, RuntimeStats, create_randn_spec,
)

ADD = "import torch\ndef add(x, y):\n    return x {sign} y\n"
FOREVER = "def add(x, y):\n    while True:\n        pass\n"


def load_tests(loader, tests, pattern):
    return tests if os.environ.get("WARPBOARD_URL") else loader.suiteClass()


def kernel(source):
    contract = IOContractBuilder()
    for seed, name in enumerate("xy"):
        contract.add_input_tensor(name, create_randn_spec([1024], seed=seed))
    return KernelCode(source, "torch", io=contract.build(), metadata={"function_name": "add"})


class Live(unittest.TestCase):
    def setUp(self):
        self.client = KernelEvalClient(os.environ["WARPBOARD_URL"], timeout=60, token=os.environ.get("WARPBOARD_TOKEN"))
        self.on = {"gpu_type": os.environ.get("WARPBOARD_GPU", "cpu")}
        self.right = kernel(ADD.format(sign="+"))

    def test_a_kernel_is_compiled_run_and_timed(self):
        answer = self.client.evaluate(self.right, num_trials=10, **self.on)
        outcome = answer["kernel_exec_result"]
        self.assertEqual(answer["status"], "success")
        self.assertTrue(outcome["compiled"] and outcome["correctness"], outcome)
        stats = outcome["runtime_stats"]
        self.assertIsInstance(stats, RuntimeStats)
        self.assertTrue(0 < stats.min <= stats.mean <= stats.max, stats)
        self.assertTrue(stats.median <= stats.percentile_95 <= stats.percentile_99 <= stats.max, stats)
        self.assertEqual(outcome["runtime"], stats.mean)
        self.assertEqual(self.client.get_job_status(answer["job_id"])["status"], "completed")

    def test_a_comparison_tells_right_from_wrong(self):
        right = self.client.compare(self.right, self.right, 10, **self.on)
        self.assertTrue(right["kernel_exec_result"]["correctness"], right)
        self.assertGreater(right["ref_runtime"].mean, 0)
        wrong = self.client.compare(self.right, kernel(ADD.format(sign="-")), 10, **self.on)["kernel_exec_result"]
        self.assertEqual((wrong["compiled"], wrong["correctness"]), (True, False))
        self.assertIn("Numerical outputs don't match", wrong["validation_error"])

    def test_progress_is_told_to_the_end(self):
        seen = []
        answer = self.client.evaluate(self.right, 10, progress=lambda event: seen.append(event["state"]), **self.on)
        self.assertEqual(seen[-1], "completed")
        self.assertTrue(answer["kernel_exec_result"]["correctness"], answer)

    def test_source_that_does_not_compile_is_a_result(self):
        outcome = self.client.evaluate(kernel("def add(x, y:\n"), 10, **self.on)["kernel_exec_result"]
        self.assertFalse(outcome["compiled"])
        self.assertIn("SyntaxError", outcome["compilation_error"])

    def test_a_bad_body_is_refused_in_the_documented_words(self):
        with self.assertRaises(EvalHTTPError) as caught:
            self.client.evaluate(self.right, 0, **self.on)
        self.assertEqual((caught.exception.status, caught.exception.message), (400, "num_trials must be at least 1"))
        with self.assertRaises(EvalHTTPError) as caught:
            self.client.evaluate({"source_code": "x", "kernel_type": "torch", "extra": 1}, **self.on)
        self.assertIn("kernel -> extra: Extra inputs are not permitted", caught.exception.message)

    def test_an_endless_kernel_can_be_cancelled_and_runs_out_of_time_otherwise(self):
        cancelled = self.client.submit(kernel(FOREVER), **self.on)
        self.assertEqual(cancelled.cancel()["state"], "cancelled")
        self.assertIn(cancelled.id, [e["id"] for e in self.client.list_evaluations()])
        with self.assertRaises(EvalFailedError) as caught:
            self.client.evaluate(kernel(FOREVER), timeout=5, **self.on)
        self.assertEqual(caught.exception.state, "timeout")

    def test_an_evaluation_is_its_callers_until_it_is_shared(self):
        mine = self.client.submit(self.right, **self.on)
        stranger = KernelEvalClient(os.environ["WARPBOARD_URL"]).evaluation(mine.id)
        with self.assertRaises(EvalHTTPError) as caught:
            stranger.poll()
        self.assertEqual(caught.exception.status, 404)
        self.assertTrue(mine.share()["shared"])
        self.assertEqual(stranger.poll()["id"], mine.id)
        mine.share(False)
        with self.assertRaises(EvalHTTPError):
            stranger.poll()
        mine.drop()

    def test_the_server_tells_how_it_is(self):
        self.assertEqual(self.client.health_check()["status"], "healthy")
        self.assertIn("throughput", self.client.get_stats())
        self.assertEqual(self.client.cleanup_jobs(), {"status": "cleanup_completed"})
