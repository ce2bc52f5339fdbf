"""Prints the version of this interpreter, its packages, and the directories that it needs."""

import importlib.metadata
import json
import os
import re
import sys

MOST, MOST_NAME, MOST_VERSION = 1000, 100, 50
FIRST = ("torch", "triton", "numpy")  # always listed, even if there are more than MOST packages


def packages():
    """Returns the installed packages: normalized name → version. If two have the same name, the first on the path
    counts."""
    found = {}
    for one in importlib.metadata.distributions():
        try:
            name, version = re.sub("[-_.]+", "-", one.metadata["Name"]).lower(), one.version
        except (KeyError, TypeError, OSError, UnicodeError):  # the package's metadata is broken
            continue
        plain = (name + version).isascii() and (name + version).isprintable()
        if version and plain and len(name) <= MOST_NAME and len(version) <= MOST_VERSION:
            found.setdefault(name, version)
    return dict(sorted(found.items(), key=lambda item: (item[0] not in FIRST, item))[:MOST])


real = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
print(
    json.dumps(
        {
            "version": sys.version.split()[0],
            "packages": packages(),
            "prefixes": [sys.prefix, sys.base_prefix, real],
        }
    )
)
