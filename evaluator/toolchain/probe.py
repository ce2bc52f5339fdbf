"""Tells about this interpreter: version, packages, and the directories that it needs."""

import importlib.metadata
import json
import os
import sys


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


packages = {name: version(name) for name in ("torch", "triton", "numpy")}
real = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
print(
    json.dumps(
        {
            "version": sys.version.split()[0],
            "packages": {name: found for name, found in packages.items() if found},
            "prefixes": [sys.prefix, sys.base_prefix, real],
        }
    )
)
