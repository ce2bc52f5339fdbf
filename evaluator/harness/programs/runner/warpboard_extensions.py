"""Keeps the output of torch.utils.cpp_extension for one submission, for its stages and its next run.

    python3 warpboard_extensions.py build SCRIPT ARCHIVE
        runs SCRIPT, which compiles its extensions, packs them into ARCHIVE, and prints the compiled sources and
        compilers; also if SCRIPT fails after that, for example because it needs a GPU
    python3 warpboard_extensions.py run ARCHIVE SCRIPT ARGUMENT...
        unpacks ARCHIVE and runs SCRIPT ARGUMENT...

Both use the directory TORCH_EXTENSIONS_DIR. Ninja compares times of change to the nanosecond, which a tar archive does
not keep; they travel in a separate list.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
import tarfile

import warpboard_inline

TIMES = "times.json"


def pack(directory: str) -> bytes:
    """Returns an archive of the regular files below directory."""
    times, buffer = {}, io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for top, _, names in os.walk(directory):
            for name in sorted(names):
                path = os.path.join(top, name)
                inside = os.path.relpath(path, directory)
                if os.path.islink(path) or not os.path.isfile(path) or name == "lock":
                    continue
                times[inside] = os.stat(path).st_mtime_ns
                archive.add(path, arcname=inside)
        listing = json.dumps(times).encode()
        info = tarfile.TarInfo(TIMES)
        info.size = len(listing)
        archive.addfile(info, io.BytesIO(listing))
    return buffer.getvalue() if times else b""


def unpack(data: bytes, directory: str) -> None:
    """Writes an archive's files only below directory."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        times = json.loads(content(archive, TIMES))
        for inside, ns in times.items():
            path = os.path.normpath(os.path.join(directory, inside))
            if not path.startswith(os.path.join(directory, "")):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content(archive, inside))
            os.utime(path, ns=(ns, ns))


def content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"{name} in the archive of extensions is no file")
    return file.read()


def build(script: str, archive: str) -> None:
    extensions = os.environ["TORCH_EXTENSIONS_DIR"]
    try:
        start(script)
    finally:
        for line in warpboard_inline.log_lines(extensions):
            print(line, flush=True)
        data = pack(extensions)
        with open(archive, "wb") as file:
            file.write(data)


def run(archive: str, script: str, *arguments: str) -> None:
    with open(archive, "rb") as file:
        unpack(file.read(), os.environ["TORCH_EXTENSIONS_DIR"])
    start(script, *arguments)


def start(script: str, *arguments: str) -> None:
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    warpboard_inline.install()
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(*sys.argv[2:])
    else:
        run(*sys.argv[2:])
