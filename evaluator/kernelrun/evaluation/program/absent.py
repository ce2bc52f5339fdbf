"""Replaces Triton's driver in a process that compiles kernels for a GPU that this machine does not have."""

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver


class Driver:
    """Answers the questions that Triton asks about the device before it launches a kernel."""

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
    """Makes Triton compile for this architecture from now on. This process can then launch no kernel."""
    driver.set_active(Driver(architecture))


def build_launcher(kernel):
    """Compiles the host code that launches a Triton kernel, which Triton would otherwise do at the first launch.
    Skips the kernels of an autotuner; the run compiles theirs."""
    from triton.backends.nvidia.driver import CudaLauncher

    if hasattr(kernel, "src") and hasattr(kernel, "metadata"):
        CudaLauncher(kernel.src, kernel.metadata)
