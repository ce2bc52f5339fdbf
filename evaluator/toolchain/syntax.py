"""Parses a Python file without running it. On a syntax error, prints the interpreter's message and exits with 1."""

import sys
import traceback

try:
    with open(sys.argv[1], "rb") as file:
        compile(file.read(), sys.argv[1], "exec", dont_inherit=True)
except (SyntaxError, ValueError) as error:
    traceback.print_exception(error, limit=0)
    sys.exit(1)
