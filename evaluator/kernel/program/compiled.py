"""Compiled kernels as one text, from the process that made them to one that then need not.

They are what Triton and this program leave in their caches, below one directory. Nothing is kept where the
process has no such directory (TRITON_CACHE_DIR is not set).
"""

import base64
import hashlib
import io
import os
import tarfile

ARCHIVE = "compiled.tar.gz"  # beside the program, where these kernels were compiled before
LARGEST = 2 << 20  # bytes of an archive that is still sent


def top():
    """The directory above the caches, or None."""
    triton = os.environ.get("TRITON_CACHE_DIR")
    return os.path.dirname(os.path.abspath(triton)) if triton else None


def files():
    """What the caches hold: paths below top()."""
    found = set()
    for cache in ("triton", "nvrtc"):
        for folder, _, names in os.walk(os.path.join(top() or os.devnull, cache)):
            found.update(os.path.relpath(os.path.join(folder, name), top()) for name in names)
    return found


def pack(before):
    """The text of what was added since files() said before, or None if that is nothing or too much. Triton's
    launchers go along in any case: they serve all kernels with the same kinds of parameters."""
    added = sorted(files() - before)
    if not added:
        return None
    launchers = {path for path in before if os.path.basename(path).startswith("__triton_launcher")}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for path in sorted({*added, *launchers}):
            archive.add(os.path.join(top(), path), arcname=path)
    return base64.b64encode(packed.getvalue()).decode() if packed.tell() <= LARGEST else None


def unpack():
    """Puts the archive beside the program, if there is one, into the caches; tells whether it did."""
    if not top() or not os.path.exists(ARCHIVE):
        return False
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(top(), **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return True


def _path(parts):
    return os.path.join(top(), "nvrtc", hashlib.sha256(repr(parts).encode()).hexdigest())


def recall(*parts):
    """What remember() was given for the same parts, or None."""
    try:
        with open(_path(parts), "rb") as file:
            return file.read()
    except (OSError, TypeError):  # not there, or no caches at all
        return None


def remember(data, *parts):
    if top():
        os.makedirs(os.path.join(top(), "nvrtc"), exist_ok=True)
        with open(_path(parts), "wb") as file:
            file.write(data)
