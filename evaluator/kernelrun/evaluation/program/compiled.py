"""Passes compiled kernels from the process that compiled them to a later one, which then need not compile them.

The compiled kernels are the files in the caches of Triton and of NVRTC, which lie in one directory, packed into one
text. Nothing is stored if TRITON_CACHE_DIR is not set.
"""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile

# File in the program's folder: label → packed files that earlier runs of this kernel compiled
ARCHIVE = "compiled.json"
LARGEST = 2 << 20  # largest packed archive that is sent to the worker, in bytes


def top():
    """Returns the directory that contains both caches, or None."""
    triton = os.environ.get("TRITON_CACHE_DIR")
    return os.path.dirname(os.path.abspath(triton)) if triton else None


class Caches:
    """The contents of the caches when the process started. User code may later change the variables that name the
    caches' directories."""

    def __init__(self, label):
        self.top = top()
        self.found = self.files()
        self.unpack(label)
        self.known = self.files()

    def files(self):
        """Returns the files in the caches, as paths relative to their common directory."""
        found: set[str] = set()
        for cache in ("triton", "nvrtc"):
            for folder, _, names in os.walk(os.path.join(self.top or os.devnull, cache)):
                found.update(os.path.relpath(os.path.join(folder, name), self.top) for name in names)
        return found

    def unpack(self, label):
        """Unpacks the files that earlier runs compiled for this kernel into the caches. If the archive cannot be
        read, the kernel is compiled again: the archive was made by a process that also ran user code. Archives of
        other kernels are not unpacked, because their files could replace this kernel's."""
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
        except Exception as error:  # noqa: BLE001 - an archive may be broken in any way
            print(f"The kernels that were compiled before cannot be read ({error}); they are compiled again.", file=sys.stderr)

    def added(self):
        """Returns a text with all files that this run added and that the archive contained, or None if the run added
        no file or if the text is too large. It always includes Triton's launchers, because kernels with the same
        types of parameters share them."""
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
    """Returns the bytes that remember() stored for the same parts, or None."""
    try:
        with open(_path(parts), "rb") as file:
            return file.read()
    except (OSError, TypeError):  # nothing is stored for these parts, or there is no cache directory
        return None


def remember(data, *parts):
    """Stores bytes in the cache for the same parts. Does nothing if there is no cache directory, or if writing
    fails."""
    if not top():
        return
    try:
        os.makedirs(os.path.join(top(), "nvrtc"), exist_ok=True)
        with open(_path(parts), "wb") as file:
            file.write(data)
    except OSError:
        pass
