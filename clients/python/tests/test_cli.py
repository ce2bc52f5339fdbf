"""Tests of warpboard-eval: its requests, its output, and its exit codes."""

import contextlib
import io
import json
import os
import tempfile
from unittest import mock

from warpboard import IOContractBuilder, KernelCode, create_ones_spec, save_to_file
from warpboard.cli import main

from .server import STATS, Answer, SiteTest, result, stream

ONE = "/api/v1/evaluations/e1"


class Commands(SiteTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        environment = mock.patch.dict(os.environ, {"WARPBOARD_SERVER": self.site.url, "WARPBOARD_TOKEN": "t"})
        environment.start()
        self.addCleanup(environment.stop)
        self.contract = IOContractBuilder().add_input_tensor("x", create_ones_spec([4])).set_grid(1).build()
        self.io = os.path.join(self.folder, "io.json")
        save_to_file(self.contract, self.io)

    def file(self, name, text="source"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_it(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(list(arguments))
            except SystemExit as stop:
                code = stop.code
        return code, out.getvalue(), err.getvalue()

    def test_evaluate_sends_the_file_with_its_contract_and_options(self):
        self.site.answers["POST /evaluate"] = Answer(result())
        code, out, _ = self.run_it(
            "evaluate", self.file("k.py"), "--type", "triton", "--io", self.io, "--meta", "kernel_name=add",
            "--meta", "jitify=true", "--trials", "7", "--timeout", "30", "--gpu", "h200", "--no-l2-flush", "--device-metrics",
        )
        self.assertEqual(self.site.bodies("/evaluate"), [{
            "kernel": {
                "source_code": "source", "kernel_type": "triton", "io": self.contract.to_dict(),
                "metadata": {"kernel_name": "add", "jitify": True},
            },
            "num_trials": 7, "timeout": 30, "gpu_type": "h200", "l2_flush": False, "collect_device_metrics": True,
        }])
        self.assertEqual((code, out.splitlines()[0]), (0, "correct on h200, job j1"))
        self.assertIn("mean 0.5 ms", out)
        self.assertEqual(self.site.asked[-1].headers["Authorization"], "Bearer t")

    def test_compare_shares_the_contract_and_guesses_the_types(self):
        self.site.answers["POST /compare"] = Answer(result(ref=STATS, speedup=2.0, speedup_interval=[1.9, 2.1]))
        files = [self.file("ref.py"), self.file("k.cu")]
        code, out, _ = self.run_it("compare", *files, "--io", self.io, "--atol", "0.5", "--ref-meta", "function_name=f")
        body = self.site.bodies("/compare")[0]
        self.assertEqual([body[k]["kernel_type"] for k in ("ref_kernel", "custom_kernel")], ["torch", "cuda"])
        self.assertEqual(body["ref_kernel"]["io"], body["custom_kernel"]["io"])
        self.assertEqual((body["ref_kernel"]["metadata"], body["atol"]), ({"function_name": "f"}, 0.5))
        self.assertNotIn("rtol", body)
        self.assertEqual((code, out.splitlines()[-1]), (0, "speedup    2.000x (95 %: 1.900 to 2.100)"))

    def test_a_saved_kernel_is_sent_as_it_is(self):
        kernel = KernelCode("s", "triton", io=self.contract)
        path = os.path.join(self.folder, "kernel.json")
        save_to_file(kernel, path)
        self.site.answers["POST /evaluate"] = Answer(result())
        self.run_it("evaluate", path)
        self.assertEqual(self.site.bodies("/evaluate")[0]["kernel"], kernel.to_dict())

    def test_json_prints_the_whole_answer(self):
        self.site.answers["POST /compare"] = Answer(result(ref=STATS))
        code, out, _ = self.run_it("compare", self.file("a.py"), self.file("b.py"), "--json")
        self.assertEqual((code, json.loads(out)), (0, result(ref=STATS)))

    def test_a_kernel_that_fails_exits_with_1_and_says_why(self):
        for outcome, first in (
            ({"compiled": False, "compilation_error": "line 3: no"}, "does not compile"),
            ({"correctness": False, "validation_error": "off by 2"}, "wrong"),
        ):
            self.site.answers["POST /evaluate"] = Answer(result(**outcome))
            code, out, _ = self.run_it("evaluate", self.file("k.cu"))
            self.assertEqual((code, out.split(" on ")[0]), (1, first))
            self.assertIn(list(outcome.values())[-1], out)

    def test_progress_tells_the_stages_on_standard_error(self):
        names = enumerate(("submitted", "profiling", "completed"), 1)
        states = [(i, {"id": "e1", "state": name, "device": "H200"}) for i, name in names]
        self.site.answers = {
            "POST /api/v1/evaluations": Answer({"id": "e1"}, 202), f"GET {ONE}/events": stream(*states, end=True),
            f"GET {ONE}": Answer({"id": "e1", "state": "completed", "result": result()}),
        }
        code, out, err = self.run_it("evaluate", self.file("k.cu"), "--progress")
        self.assertEqual((code, err), (0, "submitted H200\nprofiling H200\ncompleted H200\n"))
        self.assertIn("correct on h200", out)

    def test_wrong_input_exits_with_2_and_names_it(self):
        kernel = self.file("k.cu")
        for wrong, arguments in {
            "missing.cu": ["evaluate", "missing.cu"],
            "KEY=VALUE is needed": ["evaluate", kernel, "--meta", "x"],
            "k.cu: ": ["evaluate", kernel, "--io", kernel],
            "invalid choice": ["evaluate", kernel, "--type", "cobol"],
            "required": [],
        }.items():
            with self.subTest(wrong):
                code, _, err = self.run_it(*arguments)
                self.assertEqual(code, 2)
                self.assertIn(wrong, err)

    def test_a_refusal_exits_with_3_and_an_unreachable_server_with_4(self):
        self.site.answers["POST /evaluate"] = Answer({"error": "timeout cannot exceed 600 seconds"}, 400)
        refused = self.run_it("evaluate", self.file("k.cu"))
        self.assertEqual(refused, (3, "", "warpboard-eval: HTTP 400: timeout cannot exceed 600 seconds\n"))
        code, _, err = self.run_it("health", "--server", "http://127.0.0.1:1")
        self.assertEqual(code, 4)
        self.assertIn("http://127.0.0.1:1 cannot be reached", err)

    def test_the_small_commands_print_what_the_server_says(self):
        self.site.answers = {
            "GET /health": Answer({"status": "healthy"}), "GET /stats": Answer({"n": 1}),
            f"GET {ONE}": Answer({"state": "profiling"}), f"POST {ONE}/cancel": Answer({"state": "cancelled"}),
        }
        printed = [json.loads(self.run_it(*words.split())[1]) for words in ("health", "stats", "status e1", "cancel e1")]
        self.assertEqual(printed, [{"status": "healthy"}, {"n": 1}, {"state": "profiling"}, {"state": "cancelled"}])
