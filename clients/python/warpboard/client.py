"""KernelEvalClient, the client of an evaluation server."""

from __future__ import annotations

import urllib.parse
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sized

from .bodies import Kernel, Request, compare_body, evaluate_body, request_body, with_stats
from .errors import EvalFailedError, EvalHTTPError, part, without_result
from .evaluation import EVALUATIONS, Evaluation, Progress
from .many import CHUNK, Many
from .progress import Bar
from .transport import Transport

QUICK = 10  # timeout in seconds of calls that run no kernel


class KernelEvalClient:
    """Evaluates kernels on a Warpboard, or on any server with the same API.

    timeout is the default time limit of an evaluation, in seconds (5 to 600); the server counts it from the moment when
    a device is free. The client waits for an answer for timeout + wait seconds: wait is for the queue and the
    connection. Without base_url and token, the variables WARPBOARD_SERVER and WARPBOARD_TOKEN of the environment are
    used, and that token is sent to no other server. All methods raise EvalError; EvalHTTPError has the server's answer.
    A client may be used by several threads.

    If the server needs no token, its answer to the first evaluation has a key, which identifies the caller. The client
    sends it with later requests and has it as the property key. Another client with this key is the same caller.

    Options of evaluate, compare, submit and submit_comparison (None means the server's default): num_trials, stop_when
    (such as {"speedup_above": 1.1}), cases (such as [{"n": 1024}, {"n": 4096}]), setup, require (such as
    ["triton>=3.2"]), reuse_result, timeout, gpu_type ("h200", "cpu"), l2_flush, collect_device_metrics, ncu_sections,
    shared; of comparisons also atol, rtol, matched, max_error, equal_nan, infinite, tolerances (such as {"indices":
    {"atol": 0}}), baselines (such as ["torch.compile"]), and reuse_reference.
    """

    def __init__(
        self, base_url: Optional[str] = None, timeout: int = 120, token: Optional[str] = None, wait: float = 330,
        key: Optional[str] = None,
    ) -> None:
        self._transport = Transport(base_url, token, key)
        self.base_url = self._transport.base_url
        self.timeout = timeout
        self.wait = wait

    @property
    def key(self) -> Optional[str]:
        """The key that identifies a caller without a token. Anyone who has it can read and cancel the caller's
        evaluations."""
        return self._transport.key

    def evaluate(
        self, kernel: Kernel, num_trials: int = 100, timeout: Optional[int] = None, *,
        progress: Optional[Progress] = None, **options: Any,
    ) -> Dict[str, Any]:
        """Compiles one kernel, checks that it runs, and times it; returns the server's answer as a dict.

        In the answer, kernel_exec_result.runtime_stats is a RuntimeStats, in milliseconds. progress is called at every
        change of the evaluation's state, with the value of Evaluation.poll. An exception, such as KeyboardInterrupt,
        cancels the evaluation. Raises EvalFailedError if it ends without a result; the state is "timeout" at its time
        limit.
        """
        body = evaluate_body(kernel, {**options, "num_trials": num_trials, "timeout": timeout or self.timeout})
        return self._run("/evaluate", body, progress)

    def compare(
        self, ref_kernel: Kernel, custom_kernel: Kernel, num_trials: int = 100, timeout: Optional[int] = None, *,
        atol: Optional[float] = None, rtol: Optional[float] = None, progress: Optional[Progress] = None, **options: Any,
    ) -> Dict[str, Any]:
        """Compiles both kernels, compares their outputs within atol + rtol*|custom|, and times both.

        Returns the same as evaluate for the custom kernel, and in ref_runtime the times of the reference.
        """
        options.update(num_trials=num_trials, timeout=timeout or self.timeout, atol=atol, rtol=rtol)
        return self._run("/compare", compare_body(ref_kernel, custom_kernel, options), progress)

    def compile(self, source_code: str, kernel_type: Optional[str] = None, **options: Any) -> Dict[str, Any]:
        """Compiles a C++ or CUDA source ("cpp" or "cuda") without running it.

        Returns its compilation: diagnostics by line, kernels with their registers and spills, and code. Options are task,
        which replaces kernel_type, gpu_type, timeout, and shared. Raises EvalFailedError if it did not end within 50 s.
        """
        body = {"source_code": source_code, "kernel_type": kernel_type, **options}
        answer = self._transport.call("POST", "/api/v1/compile", body, timeout=60)
        if answer.get("state") != "completed":
            raise EvalFailedError(answer)
        return part(part(part(answer, "result", dict), "kernel_exec_result", dict), "compilation", dict)

    def submit(self, kernel: Kernel, **options: Any) -> Evaluation:
        """Submits a kernel for evaluation, without waiting for it."""
        return self._submit(evaluate_body(kernel, {"timeout": self.timeout, **options}))

    def submit_comparison(self, ref_kernel: Kernel, custom_kernel: Kernel, **options: Any) -> Evaluation:
        """Submits two kernels for comparison, without waiting for it."""
        return self._submit(compare_body(ref_kernel, custom_kernel, {"timeout": self.timeout, **options}))

    def evaluate_many(
        self, requests: Iterable[Request], *, ordered: bool = True, chunk: int = CHUNK, progress: Optional[bool] = None,
        **options: Any,
    ) -> Iterator[Dict[str, Any]]:
        """Evaluates many kernels, sent in batches, and yields an answer for each.

        A request is a kernel, or a pair: a reference and a kernel to compare with it. Each answer is like that of
        Evaluation.poll, with "index", the position of its request. An answer with the state "refused" has a "problem".
        Answers come in the order of requests; with ordered=False, those of a batch come as they end. At most two
        batches of chunk requests are evaluated at the same time: further requests are taken from the iterable when
        answers have been read. Closing the generator cancels the remaining evaluations.

        If progress is true, a progress bar is drawn on standard error; None means only on a terminal.
        """
        return iter(self._many(requests, ordered, chunk, progress, options))

    def _many(
        self, requests: Iterable[Request], ordered: bool, chunk: int, progress: Optional[bool], options: Dict[str, Any]
    ) -> Many:
        total = len(requests) if isinstance(requests, Sized) else None
        options = {"timeout": self.timeout, **options}
        return Many(
            self._transport, requests, lambda request: request_body(request, options),
            ordered=ordered, chunk=chunk, bar=Bar(total, progress),
        )

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """Returns an earlier evaluation, without a request to the server."""
        return Evaluation(self._transport, evaluation_id)

    def list_evaluations(self, page: int = 1) -> List[Dict[str, Any]]:
        """Returns your evaluations without requests and results, the newest first; pages count from 1."""
        answer = self._transport.call("GET", f"{EVALUATIONS}?page={int(page)}", timeout=QUICK)
        return part(answer, "evaluations", list)

    def health_check(self) -> Dict[str, Any]:
        """Returns the state of the server: {"status": "healthy", "job_stats", "gpu_manager"}."""
        return self._transport.call("GET", "/health", timeout=QUICK)

    def get_job_status(self, job_id: str) -> Dict[str, Any]:
        """Returns the stage of a job: {"job_id", "status", "created_at", "error"}; EvalHTTPError 404 if unknown."""
        return self._transport.call("GET", "/job/" + urllib.parse.quote(job_id, safe=""), timeout=QUICK)

    def get_stats(self) -> Dict[str, Any]:
        """Returns the server's counters: compilations, checks, times, waits and devices."""
        return self._transport.call("GET", "/stats", timeout=QUICK)

    def cleanup_jobs(self) -> Dict[str, Any]:
        """Removes jobs that ended some time ago: {"status": "cleanup_completed"}."""
        return self._transport.call("POST", "/admin/cleanup-jobs", timeout=QUICK)

    def close(self) -> None:
        """Closes the client. It holds no connection between calls, so there is nothing to release."""

    def __enter__(self) -> "KernelEvalClient":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _run(self, path: str, body: Dict[str, Any], progress: Optional[Progress]) -> Dict[str, Any]:
        limit = body["timeout"] + self.wait
        if progress is None:
            try:
                return with_stats(self._transport.call("POST", path, body, timeout=limit))
            except EvalHTTPError as error:
                raise without_result(error) from None
        evaluation = self._submit(body)
        try:
            return evaluation.wait(progress, timeout=limit)
        except BaseException:
            evaluation.drop()
            raise

    def _submit(self, body: Dict[str, Any]) -> Evaluation:
        answer = self._transport.call("POST", EVALUATIONS, body, timeout=60)
        return Evaluation(self._transport, part(answer, "id", str))
