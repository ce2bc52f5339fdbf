"""Bar, a progress bar on a terminal."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional

WIDTH = 30


class Bar:
    """Shows the number of answers on standard error. shown=None means only on a terminal, total=None an unknown
    total."""

    def __init__(self, total: Optional[int], shown: Optional[bool] = None) -> None:
        self._total = total
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._done = self._failed = 0

    def add(self, answer: Dict[str, Any]) -> None:
        """Counts one answer."""
        self._done += 1
        self._failed += answer.get("state") != "completed"
        if self._shown:
            sys.stderr.write("\r" + self.text())
            sys.stderr.flush()

    def text(self) -> str:
        """Returns the line that shows the current progress."""
        failed = f", {self._failed} without a result" if self._failed else ""
        if not self._total:
            return f"{self._done} evaluated{failed}"
        full = WIDTH * self._done // self._total
        return f"[{'#' * full}{'.' * (WIDTH - full)}] {self._done}/{self._total}{failed}"

    def close(self) -> None:
        """Ends the progress line."""
        if self._shown and self._done:
            sys.stderr.write("\n")
