"""Defines custom_kernel, which calls the submission, solution.py, in the way of the problem's original benchmark."""

import solution
from task import kernel

custom_kernel = kernel(solution)
