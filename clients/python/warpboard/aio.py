"""AsyncWarpboard, a site for asyncio.

Requests run in threads: the standard library has no HTTP client for asyncio, and a client of our own would lack
urllib's support for proxies, certificates and redirects. A cancelled asyncio task returns at once. The thread of its
request ends with the answer, within seconds, because a long wait is split into several requests.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, AsyncIterator, Callable, Dict, Iterable, List, Mapping, Optional, TypeVar

from .answers import Board, Device, Event, Joined, SourceFile, Submission, Task, TaskSummary, User
from .bodies import Kernel, Request
from .errors import EvalFailedError, SiteTimeoutError, part
from .evaluation import Evaluation
from .many import CHUNK
from .profiles import Comparison, Profile
from .site import Path, Warpboard, Which, early
from .table import Table

T = TypeVar("T")

SLICE = 5  # most seconds that one request waits for a change
THREADS = 32  # most requests at the same time


class AsyncWarpboard:
    """Warpboard for asyncio; site is the Warpboard behind it. Close it, or use it in `async with`."""

    def __init__(self, base_url: Optional[str] = None, token: Optional[str] = None, key: Optional[str] = None) -> None:
        self.site = Warpboard(base_url, token, key)
        self.base_url = self.site.base_url
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="warpboard")

    async def me(self) -> User:
        """Returns the user to whom the token belongs."""
        return await self._call(self.site.me)

    async def devices(self) -> Table[Device]:
        """Returns the devices with their load."""
        return await self._call(self.site.devices)

    async def tasks(self) -> Table[TaskSummary]:
        """Returns the tasks."""
        return await self._call(self.site.tasks)

    async def task(self, slug: str) -> Task:
        """Returns a task with its description, cases and templates."""
        return await self._call(self.site.task, slug)

    async def join(self, code: str) -> Joined:
        """Joins a members' board with an invite code or its link."""
        return await self._call(self.site.join, code)

    async def leave(self, task: str) -> None:
        """Leaves a members' board."""
        await self._call(self.site.leave, task)

    async def board(self, task: str, device: str, *, page: Optional[int] = None, version: Optional[int] = None) -> Board:
        """Returns the ranking of a task on a device, like Warpboard.board."""
        return await self._call(self.site.board, task, device, page=page, version=version)

    async def submit(
        self, file: Path, *, task: Optional[str] = None, devices: Optional[List[str]] = None, mode: str = "test",
        source: Optional[str] = None, files: Optional[Mapping[str, str]] = None,
        profile_filter: Optional[Mapping[str, Any]] = None,
    ) -> Submission:
        """Submits a file without waiting, like Warpboard.submit."""
        return await self._call(self.site.submit, file, task=task, devices=devices, mode=mode, source=source, files=files, profile_filter=profile_filter)

    async def submission(self, which: Which) -> Submission:
        """Returns a submission in its current state."""
        return await self._call(self.site.submission, which)

    async def submissions(self, task: Optional[str] = None, limit: int = 50) -> Table[Submission]:
        """Returns your newest submissions."""
        return await self._call(self.site.submissions, task, limit)

    async def wait(self, which: Which, timeout: Optional[float] = None) -> Submission:
        """Waits until all runs of a submission have ended. Raises SiteTimeoutError after timeout seconds; the
        submission then continues."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left, began = SLICE if end is None else min(SLICE, end - time.monotonic()), time.monotonic()
            found = await self._call(self.site.submission, which, wait=max(left, 0))
            if found.ended:
                return found
            if left < 1:
                raise SiteTimeoutError(f"submission {found.id} did not end within {timeout:g} seconds")
            await asyncio.sleep(early(began))

    async def events(self, which: Which, timeout: Optional[float] = None) -> AsyncIterator[Event]:
        """Yields the events of a submission until all its runs have ended."""
        events = self.site.events(which, timeout)
        while True:
            event: Optional[Event] = await self._call(next, events, None)
            if event is None:
                return
            yield event

    async def cancel(self, which: Which) -> Submission:
        """Stops the runs of a submission that have not ended."""
        return await self._call(self.site.cancel, which)

    async def source(self, which: Which) -> SourceFile:
        """Returns the submitted file."""
        return await self._call(self.site.source, which)

    async def profile(self, which: Which, device: Optional[str] = None, case: int = 0) -> Profile:
        """Returns the Nsight Compute profile of one benchmark case of a submission's run."""
        return await self._call(self.site.profile, which, device, case)

    async def compare(self, a: Which, b: Which, device: Optional[str] = None, case: int = 0) -> Comparison:
        """Compares the runs of two submissions."""
        return await self._call(self.site.compare, a, b, device, case)

    async def evaluate_kernel(self, kernel: Kernel, **options: Any) -> Dict[str, Any]:
        """Evaluates like KernelEvalClient.evaluate. Cancelling the asyncio task cancels the evaluation."""
        return await self._ended(await self._call(self.site.kernels.submit, kernel, **options))

    async def compare_kernels(self, ref_kernel: Kernel, custom_kernel: Kernel, **options: Any) -> Dict[str, Any]:
        """Compares like KernelEvalClient.compare. Cancelling the asyncio task cancels the evaluation."""
        return await self._ended(await self._call(self.site.kernels.submit_comparison, ref_kernel, custom_kernel, **options))

    async def evaluate_many(
        self, requests: Iterable[Request], *, ordered: bool = True, chunk: int = CHUNK, progress: Optional[bool] = None,
        **options: Any,
    ) -> AsyncIterator[Dict[str, Any]]:
        """Yields answers like KernelEvalClient.evaluate_many. Cancelling the asyncio task cancels the remaining
        evaluations."""
        many = self.site.kernels._many(requests, ordered, chunk, progress, options)
        answers = iter(many)
        try:
            while True:
                answer: Optional[Dict[str, Any]] = await self._call(next, answers, None)
                if answer is None:
                    return
                yield answer
        finally:
            _aside(many.cancel)

    async def aclose(self) -> None:
        """Closes the client, without waiting for running requests."""
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> "AsyncWarpboard":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    async def _ended(self, evaluation: Evaluation) -> Dict[str, Any]:
        """Returns the result of an evaluation. Raises EvalFailedError if it ended without one."""
        try:
            while True:
                began = time.monotonic()
                answer = await self._call(evaluation.poll, SLICE)
                if answer.get("ended"):
                    break
                await asyncio.sleep(early(began))
        except BaseException:
            _aside(evaluation.drop)
            raise
        if answer.get("state") != "completed":
            raise EvalFailedError(answer)
        return part(answer, "result", dict)

    async def _call(self, method: Callable[..., T], *args: Any, **options: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, functools.partial(method, *args, **options))


def _aside(work: Callable[[], None]) -> None:
    """Runs work in a thread that no one waits for. It works even after the client is closed, because an abandoned
    iterator may end after `async with`."""
    threading.Thread(target=work, name="warpboard-cancel").start()
