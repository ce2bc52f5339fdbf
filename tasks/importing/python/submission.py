"""Makes custom_kernel of a submission, solution.py, in the form of the problem's own benchmark."""

import solution
from task import kernel

custom_kernel = kernel(solution)
