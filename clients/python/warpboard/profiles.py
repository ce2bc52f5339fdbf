"""Nsight Compute profiles of runs, and comparisons of two runs."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Dict, Optional

from .table import Table, nanoseconds


@dataclass(frozen=True, repr=False)
class Profile:
    """The profile of one benchmark case. data is the whole report, with values that the site has derived. print shows
    text."""

    submission: int
    run: int
    device: str
    case: int
    text: str
    data: Dict[str, Any]

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Ratio:
    """The time of run B divided by that of run A. apart is true if the data show a difference, and None if
    undecided."""

    value: float
    low: Optional[float] = None  # lower end of the ratio's 95 % confidence interval
    high: Optional[float] = None
    apart: Optional[bool] = None


@dataclass(frozen=True)
class ComparedCase:
    """One benchmark case of both runs. Times are medians in nanoseconds; None if a run lacks the case."""

    spec: str
    a_ns: Optional[float] = None
    b_ns: Optional[float] = None
    ratio: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None


class Comparison(Table[ComparedCase]):
    """Two runs compared, as a table of their cases. data is the site's whole answer, with both profiles."""

    def __init__(self, data: Dict[str, Any], ratio: Optional[Ratio]) -> None:
        super().__init__([_case(one) for one in data.get("cases") or ()], ("spec", "a_ns", "b_ns", "ratio", "low", "high"))
        self.data = data
        self.ratio = ratio
        self.caption = _verdict(data, ratio)


def _case(data: Dict[str, Any]) -> ComparedCase:
    ratio = data.get("ratio") or {}
    return ComparedCase(data["spec"], _median(data.get("a")), _median(data.get("b")), ratio.get("value"), ratio.get("low"), ratio.get("high"))


def _median(case: Optional[Dict[str, Any]]) -> Optional[float]:
    found = case and (case.get("median") or case.get("mean"))
    return float(found) if found else None


def _verdict(data: Dict[str, Any], ratio: Optional[Ratio]) -> str:
    scores = [data[side].get("score_ns") for side in "ab"]
    if None in scores or ratio is None:
        return "not both runs have a score"
    if ratio.apart is False:
        said = "no clear difference"
    else:
        said = "B is " + ("faster" if ratio.value < 1 else "slower") + f", {ratio.value:.3f} times A's time"
    return f"A {nanoseconds(scores[0])}, B {nanoseconds(scores[1])}: {said}"
