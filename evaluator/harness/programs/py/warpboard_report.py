"""The result pipe, and the exit codes of eval programs."""

import ctypes
import fcntl
import os
import sys
from random import SystemRandom

EXIT_USAGE = 2
EXIT_NO_PIPE = 111
EXIT_FAILED = 112
EXIT_BAD_SPEC = 113


def take(name):
    """Takes a variable out of the environment, wiping it where it was; None if there is none."""
    find = ctypes.CDLL(None).getenv
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    address = find(name.encode())
    value = os.environ.pop(name, None)
    if address and value is not None:
        ctypes.memset(address, ord("*"), len(os.fsencode(value)))
    return value


def forget():
    """Leaves a process nothing of what only the judge may have."""
    given = take("POPCORN_FD")
    take("POPCORN_SEED")
    take("WARPBOARD_TOKEN")
    if given is not None and given.isdigit():
        try:
            os.close(int(given))
        except OSError:
            pass


class Report:
    """Writes "key: value" lines. The pipe is taken off its public number and out of the environment,
    so that the submission neither finds it by name nor hands it to a program that it starts."""

    def __init__(self):
        self._token = take("WARPBOARD_TOKEN") or ""
        try:
            given = int(take("POPCORN_FD"))
            self._fd = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, 200 + SystemRandom().randrange(50))
            os.close(given)
        except (TypeError, ValueError, OSError):
            print("POPCORN_FD names no open descriptor", file=sys.stderr)
            sys.exit(EXIT_NO_PIPE)

    def log(self, key, value):
        """Writes one line; line breaks in the value become the two characters backslash n."""
        text = str(value).replace("\r", "").replace("\n", "\\n")
        data = f"{key}: {text}\n".encode("utf-8", "replace")
        while data:
            data = data[os.write(self._fd, data):]

    def verdict(self, passed):
        """Writes the line that ends the report."""
        self.log("check", f"{'pass' if passed else 'fail'} {self._token}".strip())
