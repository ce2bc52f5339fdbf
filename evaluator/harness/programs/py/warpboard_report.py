"""The result pipe, and the exit codes of eval programs."""

import fcntl
import os
import sys

EXIT_USAGE = 2
EXIT_NO_PIPE = 111
EXIT_FAILED = 112
EXIT_BAD_SPEC = 113


class Report:
    """Writes "key: value" lines. The pipe is taken off its public number and out of the environment,
    so that the submission neither finds it by name nor hands it to a program that it starts."""

    def __init__(self):
        try:
            given = int(os.environ.pop("POPCORN_FD"))
            self._fd = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, 200)
            os.close(given)
        except (KeyError, ValueError, OSError):
            print("POPCORN_FD names no open descriptor", file=sys.stderr)
            sys.exit(EXIT_NO_PIPE)

    def log(self, key, value):
        """Writes one line; line breaks in the value become the two characters backslash n."""
        text = str(value).replace("\r", "").replace("\n", "\\n")
        data = f"{key}: {text}\n".encode("utf-8", "replace")
        while data:
            data = data[os.write(self._fd, data):]
