"""python -m warpboard is warpboard-eval."""

import sys

from .cli import main

sys.exit(main())
