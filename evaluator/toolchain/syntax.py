"""Says where a file is no Python, as the interpreter would."""

import sys
import traceback

try:
    with open(sys.argv[1], "rb") as file:
        compile(file.read(), sys.argv[1], "exec", dont_inherit=True)
except (SyntaxError, ValueError) as error:
    traceback.print_exception(error, limit=0)
    sys.exit(1)
