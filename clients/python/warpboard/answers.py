"""A site's answers about tasks, submissions and devices. Times of kernels are in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, List, Optional

from .errors import part
from .table import Table, html_table, nanoseconds


@dataclass(frozen=True)
class User:
    """A person."""

    id: int
    name: str
    role: str = ""  # empty except for your own account


@dataclass(frozen=True)
class TaskSummary:
    """A task, as lists of tasks show it."""

    slug: str
    title: str
    lang: str
    devices: List[str] = field(default_factory=list)
    tags: List[str] = field(default_factory=list)
    problem: str = ""  # the same for this task in other languages
    deadline: Optional[datetime] = None


@dataclass(frozen=True)
class SourceFile:
    """A file with its text. For a submission, files has its further files."""

    name: str
    text: str
    files: Dict[str, str] = field(default_factory=dict)  # further files: their texts by name


@dataclass(frozen=True)
class Task(TaskSummary):
    """A task with everything that a submission needs."""

    version: int = 0
    description: str = ""  # in Markdown
    ranking_by: str = ""
    tests: List[Any] = field(default_factory=list)
    benchmarks: List[Any] = field(default_factory=list)
    timeouts_ns: Dict[str, int] = field(default_factory=dict)
    templates: Dict[str, SourceFile] = field(default_factory=dict)
    submission_files: List[str] = field(default_factory=list)  # names and patterns of further files that a submission may have


@dataclass(frozen=True)
class Joined:
    """The task that you can see after joining with an invite code."""

    task: str  # slug of the task
    title: str
    devices: List[str] = field(default_factory=list)
    url: str = ""


@dataclass(frozen=True)
class Device:
    """A model of GPU or CPU, with its load: slots, and queued and running work."""

    device: str
    slots: int = 0
    busy: int = 0
    queued: int = 0
    running: int = 0
    paused_by: str = ""


@dataclass(frozen=True)
class Validation:
    """Result of a task's validation script for an entry."""

    answer: str  # "applies", "does not apply" or "no answer"; empty: the script has not ended
    script_version: str
    asked: datetime
    asked_by: str
    message: str = ""  # message of the script, or the reason for no answer


@dataclass(frozen=True)
class Entry:
    """A person's best valid run on a board."""

    rank: int
    person: str
    person_id: int
    submission_id: int
    score_ns: float
    achieved: datetime
    tied: bool = False  # others share this rank, because the data show no clear difference
    older: bool = False  # measured with older software, so ranked behind all others
    interval_low: Optional[float] = None  # lower end of the score's 95 % confidence interval, in nanoseconds
    interval_high: Optional[float] = None
    processes: int = 0
    noisy: bool = False
    pooled_runs: int = 0
    std_ns: float = 0.0
    err_ns: float = 0.0
    roof: Optional[float] = None  # 0 to 1: closeness of the score to the device's measured limit
    error_ulp: Optional[float] = None
    memory_peak: Optional[int] = None  # bytes
    clock: str = ""
    disturbed: str = ""
    validation: Optional[Validation] = None  # result of the task's validation script, which changes no rank


class Board(Table[Entry]):
    """The ranking of a task on a device, as a table of its entries."""

    def __init__(self, about: Dict[str, Any], entries: List[Entry]) -> None:
        super().__init__(entries, ("rank", "person", "score_ns", "interval_low", "interval_high", "submission_id"))
        self.task = part(about, "task", str)
        self.device = part(about, "device", str)
        self.version = part(about, "version", int)
        self.epoch: str = about.get("epoch", "")  # versions of the software with which the scores were measured
        self.total = part(about, "total", int)
        self.caption = f"{self.task} (version {self.version}) on {self.device}"


@dataclass(frozen=True)
class Failure:
    """The reason why a run did not pass."""

    reason: str
    exit_code: int = 0
    signal: str = ""
    limit: str = ""  # the limit that was reached, such as "wall" or "memory"; else empty


@dataclass(frozen=True)
class Run:
    """A submission on one device."""

    id: int
    device: str
    state: str
    position: int = 0  # position in the queue, from 1; 0 if not queued
    expected_wait_ns: int = 0
    queued: Optional[datetime] = None
    started: Optional[datetime] = None
    ended: Optional[datetime] = None
    score_ns: Optional[float] = None
    interval_low: Optional[float] = None
    interval_high: Optional[float] = None
    processes: int = 0
    noisy: bool = False
    pooled_runs: int = 0
    error_ulp: Optional[float] = None
    memory_peak: Optional[int] = None  # bytes
    clock: str = ""
    disturbed: str = ""
    disqualified: Optional[datetime] = None
    held_why: str = ""
    profile: str = ""  # address of the page with its profile
    failure: Optional[Failure] = None
    stages: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    machine: Dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        """True if the run passed. If it reached a limit instead, failure.limit names the limit."""
        return self.state == "done"

    @property
    def outcome(self) -> str:
        """A line for display: the failure's reason, the score, or the position in the queue; else empty."""
        if self.failure is not None:
            return self.failure.reason
        if self.score_ns is not None:
            return nanoseconds(self.score_ns)
        return f"place {self.position} of the queue" if self.position else ""


@dataclass(frozen=True)
class Submission:
    """A submission and its runs, one for each device."""

    id: int
    url: str
    task: str
    mode: str
    created: datetime
    ended: bool = False  # all runs have ended
    version: int = 0
    file_name: str = ""
    user: Optional[User] = None
    runs: List[Run] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if all runs have passed."""
        return self.ended and all(run.passed for run in self.runs)

    def run(self, device: Optional[str] = None) -> Run:
        """Returns the run on a device; without device, the only run. Raises ValueError unless exactly one run
        matches."""
        found = [run for run in self.runs if device in (None, run.device)]
        if len(found) != 1:
            raise ValueError(f"submission {self.id} has runs on {', '.join(r.device for r in self.runs)}; say which")
        return found[0]

    def _repr_html_(self) -> str:
        lines = [(run.device, run.state, run.outcome) for run in self.runs]
        return html_table(f"Submission {self.id} to {self.task}, {self.mode}", ("device", "state", "outcome"), lines)


@dataclass(frozen=True)
class Event:
    """One event of a run."""

    id: int
    run_id: int
    device: str
    type: str
    state: str  # state of the run after this event
    time: datetime
    detail: Dict[str, Any] = field(default_factory=dict, repr=False)
    failure: Optional[Failure] = None
    score_ns: Optional[float] = None
