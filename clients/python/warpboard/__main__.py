"""Makes python -m warpboard run the command warpboard-eval."""

import sys

from .cli import main

sys.exit(main())
