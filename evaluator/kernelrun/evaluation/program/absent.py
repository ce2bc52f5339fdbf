"""Stands in for a GPU where Triton compiles for one that is not there."""

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver


class Driver:
    """The questions that Triton asks a device before it launches anything."""

    def __init__(self, architecture):
        self.target = GPUTarget("cuda", int(architecture.rstrip("af").replace(".", "")), 32)

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_active_torch_device(self):
        return torch.device("cpu")


def compile_for(architecture):
    """From now on this process compiles for that architecture, and can launch nothing."""
    driver.set_active(Driver(architecture))


def build_launcher(kernel):
    """Triton would build it at the first launch. An autotuner's kernels are left to the run."""
    from triton.backends.nvidia.driver import CudaLauncher

    if hasattr(kernel, "src") and hasattr(kernel, "metadata"):
        CudaLauncher(kernel.src, kernel.metadata)
