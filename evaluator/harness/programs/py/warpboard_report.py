"""The result pipe, and the exit codes of eval programs."""

from __future__ import annotations

import os
import sys

EXIT_USAGE = 2
EXIT_NO_PIPE = 111
EXIT_FAILED = 112
EXIT_BAD_SPEC = 113
EXIT_RUNNER_GONE = 115
EXIT_REFUSED = 116
EXIT_TASK = 117


class Report:
    """Report writes "key: value" lines to the result pipe, which processes that the task starts do not inherit."""

    def __init__(self) -> None:
        try:
            self._fd = int(os.environ["POPCORN_FD"])
            os.set_inheritable(self._fd, False)
        except (KeyError, ValueError, OSError):
            print("POPCORN_FD names no open descriptor", file=sys.stderr)
            sys.exit(EXIT_NO_PIPE)

    def log(self, key: str, value: object) -> None:
        """Writes one line; line breaks in the value become the two characters backslash n."""
        text = str(value).replace("\r", "").replace("\n", "\\n")
        data = f"{key}: {text}\n".encode("utf-8", "replace")
        while data:
            data = data[os.write(self._fd, data):]

    def verdict(self, passed: bool) -> None:
        """Writes the line with the verdict, which ends the report."""
        self.log("check", "pass" if passed else "fail")
