"""The evaluation server's own module, as its manual imports it; see warpboard.models.

The folder has no __init__.py: so a package of yours that is called shared comes first, wherever it is.
"""

from warpboard.models import *  # noqa: F401,F403
