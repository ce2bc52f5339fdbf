"""The names of the module shared.models in the evaluation server's manual, so that its examples run; see
warpboard.models.

The folder has no __init__.py, so that Python prefers a package of yours that is also called shared, wherever it is.
"""

from warpboard.models import *  # noqa: F401,F403
