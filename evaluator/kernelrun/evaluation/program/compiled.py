"""Compiled kernels as one text, from the process that made them to one that then need not.

They are what Triton and this program leave in their caches, below one directory. Nothing is kept where the
process has no such directory (TRITON_CACHE_DIR is not set).
"""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile

ARCHIVE = "compiled.json"  # beside the program: what was added for each of these kernels before, by label
LARGEST = 2 << 20  # bytes of an archive that is still sent


def top():
    """The directory above the caches, or None."""
    triton = os.environ.get("TRITON_CACHE_DIR")
    return os.path.dirname(os.path.abspath(triton)) if triton else None


class Caches:
    """The caches as this process found them: user code may change the variables that name their directories."""

    def __init__(self, label):
        self.top = top()
        self.found = self.files()
        self.unpack(label)
        self.known = self.files()

    def files(self):
        """Returns the files in the caches, as paths below their directory."""
        found: set[str] = set()
        for cache in ("triton", "nvrtc"):
            for folder, _, names in os.walk(os.path.join(self.top or os.devnull, cache)):
                found.update(os.path.relpath(os.path.join(folder, name), self.top) for name in names)
        return found

    def unpack(self, label):
        """Puts the files that were added for this kernel before into the caches. An unreadable one is compiled again:
        it comes from a process that user code shared. Another kernel's files stay away: they could replace this
        one's."""
        if not self.top or not os.path.exists(ARCHIVE):
            return
        try:
            with open(ARCHIVE, "rb") as file:
                text = json.load(file).get(label, "")
            if not text:
                return
            with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text))) as packed:
                options: dict = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                packed.extractall(self.top, **options)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it
            print(f"The kernels that were compiled before cannot be read ({error}); they are compiled again.", file=sys.stderr)

    def added(self):
        """Returns the text of all files of this run, or None if nothing was added to the found ones, or too much.
        Triton's launchers are always included: they serve all kernels with the same kinds of parameters."""
        now = self.files()
        if now <= self.known:
            return None
        launchers = {path for path in now if os.path.basename(path).startswith("__triton_launcher")}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
            for path in sorted(now - self.found | launchers):
                archive.add(os.path.join(self.top, path), arcname=path)
        return base64.b64encode(packed.getvalue()).decode() if packed.tell() <= LARGEST else None


def _path(parts):
    return os.path.join(top(), "nvrtc", hashlib.sha256(repr(parts).encode()).hexdigest())


def recall(*parts):
    """Returns the value that remember() got for the same parts, or None."""
    try:
        with open(_path(parts), "rb") as file:
            return file.read()
    except (OSError, TypeError):  # not there, or no caches at all
        return None


def remember(data, *parts):
    """Keeps data for the same parts, if there is room and a place for it."""
    if not top():
        return
    try:
        os.makedirs(os.path.join(top(), "nvrtc"), exist_ok=True)
        with open(_path(parts), "wb") as file:
            file.write(data)
    except OSError:
        pass
