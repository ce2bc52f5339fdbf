"""Warpboard, a site: its tasks, boards, submissions and profiles, and the client of its evaluations."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode

from .answers import Board, Device, Entry, Event, Joined, SourceFile, Submission, Task, TaskSummary, User
from .client import QUICK, KernelEvalClient
from .errors import SiteConnectionError, SiteTimeoutError, WarpboardError, part
from .files import read_source
from .profiles import Comparison, Profile, Ratio
from .records import read, rows
from .stream import Stream
from .table import Table

Path = Union[str, "os.PathLike[str]"]
#: A submission, or its ID.
Which = Union[Submission, int]

API = "/api/v1"
SLICE = 20.0  # seconds for which one request waits; the server allows 25
MOST_PAGES = 10_000  # most pages of a board that are read
SENDS = 3  # most tries to send a submission if the connection breaks; the site recognizes repetitions


class Warpboard:
    """A Warpboard site.

    Without base_url and token, the variables WARPBOARD_SERVER and WARPBOARD_TOKEN of the environment are used, and that
    token is sent to no other server. All methods raise WarpboardError: RefusedError has the site's answer. A kernel's
    failure is no exception but part of the answer, even if it reaches a time limit. Tables are sequences of
    dataclasses, which pandas.DataFrame(table) accepts. kernels is a client that evaluates kernels without a task.
    Several threads may use one object.
    """

    def __init__(self, base_url: Optional[str] = None, token: Optional[str] = None, key: Optional[str] = None) -> None:
        self.kernels = KernelEvalClient(base_url, token=token, key=key)
        self.base_url = self.kernels.base_url
        self._transport = self.kernels._transport

    def me(self) -> User:
        """Returns the user to whom the token belongs."""
        return read(User, self._get("/me"))

    def devices(self) -> Table[Device]:
        """Returns the devices with their load."""
        return Table(rows(Device, self._get("/devices").get("devices")), ("device", "slots", "busy", "queued", "running"))

    def tasks(self) -> Table[TaskSummary]:
        """Returns the tasks."""
        return Table(rows(TaskSummary, self._get("/tasks").get("tasks")), ("slug", "title", "lang", "devices"))

    def task(self, slug: str) -> Task:
        """Returns a task with its description, cases and templates."""
        return read(Task, self._get(f"/tasks/{_part(slug)}"))

    def join(self, code: str) -> Joined:
        """Joins a members' board with an invite code or its link. If you are a member already, this does not count as a
        use of the code."""
        body = {"code": code.strip().rstrip("/").rsplit("/", 1)[-1]}
        return read(Joined, self._transport.call("POST", API + "/join", body, QUICK))

    def leave(self, task: str) -> None:
        """Leaves a members' board. Your entries stay; an invite code lets you in again."""
        self._transport.read("DELETE", f"{API}/tasks/{_part(task)}/membership", timeout=QUICK)

    def board(self, task: str, device: str, *, page: Optional[int] = None, version: Optional[int] = None) -> Board:
        """Returns the ranking of a task on a device: all of it, or one page of 100."""
        about: Dict[str, Any] = {}
        entries: List[Entry] = []
        number = page or 1
        while True:
            about = self._get(f"/boards/{_part(task)}/{_part(device)}", page=number, version=version)
            found = about.get("entries") or []
            total = part(about, "total", int)
            entries += rows(Entry, [_entry(one) for one in found] if isinstance(found, list) else found)
            if page or not found or len(entries) >= total:
                return Board(about, entries)
            if number >= MOST_PAGES:
                raise WarpboardError(f"{self.base_url} has no end of pages")
            number += 1

    def submit(
        self, file: Path, *, task: Optional[str] = None, devices: Optional[List[str]] = None, mode: str = "test",
        source: Optional[str] = None, files: Optional[Mapping[str, str]] = None,
        profile_filter: Optional[Mapping[str, Any]] = None,
    ) -> Submission:
        """Submits a file, or source under the file's name, without waiting.

        files are further files, if the task takes any: their texts by name. mode is test, benchmark, ranked (which
        counts on the board), profile or sanitize; profile_filter limits what mode profile profiles, with benchmark, kernel,
        kernel_name_base, launch_skip, launch_count and sections. task and devices may be omitted if the source has
        directives for them. If the connection breaks, the request is sent again, which gives only one submission.
        """
        if source is None:
            source = read_source(file)
        given = {"task": task, "devices": devices, "files": dict(files or {}), "profile_filter": dict(profile_filter or {})}
        body: Dict[str, Any] = {"file_name": os.path.basename(os.fspath(file)), "source": source, "mode": mode}
        body.update({name: value for name, value in given.items() if value})
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        for left in reversed(range(SENDS)):
            try:
                return read(Submission, self._transport.call("POST", API + "/submissions", body, 60, headers))
            except (SiteConnectionError, SiteTimeoutError):
                if not left:
                    raise
        raise AssertionError("unreachable")

    def submission(self, which: Which, wait: float = 0) -> Submission:
        """Returns a submission. With wait (at most 25 seconds), it returns when all runs have ended, or after this
        time."""
        found = self._get(f"/submissions/{_id(which)}", QUICK + wait, wait=int(wait) or None)
        return read(Submission, found)

    def submissions(self, task: Optional[str] = None, limit: int = 50) -> Table[Submission]:
        """Returns your newest submissions, up to limit, without the stages of their runs."""
        found: List[Submission] = []
        before: Optional[int] = None
        while len(found) < limit:
            page = self._get("/submissions", task=task, before=before, limit=min(limit - len(found), 50))
            found += rows(Submission, page.get("submissions"))
            before = page.get("next")
            if not before or not page.get("submissions"):
                break
        return Table(found, ("id", "task", "mode", "created", "ended"))

    def wait(
        self, which: Which, progress: Optional[Callable[[Submission], None]] = None, timeout: Optional[float] = None
    ) -> Submission:
        """Waits until all runs of a submission have ended, and returns it. progress is called with the submission about
        every 20 s.

        Raises SiteTimeoutError after timeout seconds; the submission then continues.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left, began = SLICE if end is None else min(SLICE, end - time.monotonic()), time.monotonic()
            found = self.submission(which, wait=max(left, 0))
            if progress is not None:
                progress(found)
            if found.ended:
                return found
            if left < 1:
                raise SiteTimeoutError(f"submission {found.id} did not end within {timeout:g} seconds")
            time.sleep(early(began))

    def events(self, which: Which, timeout: Optional[float] = None) -> Iterator[Event]:
        """Yields the events of a submission until all its runs have ended. A broken stream is resumed."""
        stream = Stream(self._transport, f"{API}/submissions/{_id(which)}/events", timeout)
        while True:
            for message in stream.connect():
                if message.name == "end":
                    return
                if isinstance(message.data, dict):
                    yield read(Event, message.data)
            stream.pause()

    def cancel(self, which: Which) -> Submission:
        """Stops the runs of a submission that have not ended."""
        return read(Submission, self._transport.call("POST", f"{API}/submissions/{_id(which)}/cancel", timeout=QUICK))

    def source(self, which: Which) -> SourceFile:
        """Returns the submitted file: your own, or anyone's after the task's deadline."""
        return read(SourceFile, self._get(f"/submissions/{_id(which)}/source"))

    def profile(self, which: Which, device: Optional[str] = None, case: int = 0) -> Profile:
        """Returns the Nsight Compute profile of one benchmark case, from 0, of a submission's run."""
        submission, run = self._run(which, device)
        path = f"/submissions/{submission}/runs/{run}/profile."
        text = self._transport.read("GET", f"{path}txt?case={case}", timeout=60).decode("utf-8", errors="replace")
        data = self._transport.call("GET", f"{path}json?case={case}", timeout=60)
        return Profile(submission, run, str(data.get("device")), case, text, data)

    def compare(self, a: Which, b: Which, device: Optional[str] = None, case: int = 0) -> Comparison:
        """Compares the runs of two submissions: their cases, and reasons for the difference."""
        runs = [self._run(which, device)[1] for which in (a, b)]
        data = self._transport.call("GET", f"/compare.json?a={runs[0]}&b={runs[1]}&case={case}", timeout=60)
        return Comparison(data, read(Ratio, data["ratio"]) if data.get("ratio") else None)

    def close(self) -> None:
        """Closes the client. It holds no connection between calls, so there is nothing to release."""

    def __enter__(self) -> "Warpboard":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Warpboard({self.base_url!r})"

    def _run(self, which: Which, device: Optional[str]) -> Tuple[int, int]:
        found = which if isinstance(which, Submission) else self.submission(which)
        return found.id, found.run(device).id

    def _get(self, path: str, timeout: float = QUICK, **query: Any) -> Dict[str, Any]:
        given = urlencode({name: value for name, value in query.items() if value is not None})
        return self._transport.call("GET", f"{API}{path}?{given}" if given else API + path, timeout=timeout)


def early(began: float) -> float:
    """Returns the seconds to pause if a request that should have waited was answered at once: at least 1 s must pass
    since began."""
    return max(began + 1 - time.monotonic(), 0)


def _entry(one: Any) -> Dict[str, Any]:
    user = part(one, "user", dict)
    return {**one, "person": part(user, "name", str), "person_id": part(user, "id", int)}


def _id(which: Which) -> int:
    return which.id if isinstance(which, Submission) else int(which)


def _part(text: str) -> str:
    return quote(text, safe="")
