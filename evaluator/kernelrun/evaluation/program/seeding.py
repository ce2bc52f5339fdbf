"""Seeds random generators with the request's seeds, or with a state that follows from a secret of 32 bytes.

PyTorch uses 32 bits of a seed on the CPU, so 16 numbers of a generator suffice to find its seed in two minutes by
trying all. From a secret, such a generator gets its whole state instead. A kernel that should know the inputs of a call
must then contain them, or STATE bytes.
"""

import functools
import hashlib
import random
import sys

import torch

STATE = 19_937 // 8  # size in bytes of the state of MT19937, the generator of PyTorch (on the CPU), Python, and NumPy
_WORDS = 624  # 32-bit words in the state of MT19937
_AT = 24  # offset in bytes of these words in PyTorch's state, which has 64 bits for each


def seed(number):
    """Seeds the generators of Python, PyTorch, and NumPy with a number."""
    random.seed(number)
    torch.manual_seed(number)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


def draw_from(secret):
    """Sets all generators to states that follow from the secret."""
    seed(_number(secret, "device"))
    fill(torch.default_generator, _bytes(secret, "torch"))
    random.seed(_bytes(secret, "random"))
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        numpy.random.seed(numpy.frombuffer(_bytes(secret, "numpy"), "<u4"))


def generator(device, number, secret, kind=()):
    """Returns a generator for one tensor, with the seed number; or, with a secret, one that follows from the secret,
    number, and kind. Tensors of different kinds, such as other means, get unrelated numbers: otherwise a kernel
    could compute one input from another."""
    made = _generator(device)
    if secret is None:
        return made.manual_seed(number)
    purpose = f"tensor {number} {kind}"
    if made.device.type == "cpu":
        return fill(made, _bytes(secret, purpose))
    return made.manual_seed(_number(secret, purpose))


@functools.cache
def _generator(device):
    """Returns the generator of a device. All tensors share it, and each seeds it again, because creating one takes
    longer."""
    return torch.Generator(device=device)


def fill(generator, state):
    """Sets the state of a generator on the CPU, and returns the generator."""
    generator.manual_seed(1)
    whole = generator.get_state()
    words = whole[_AT : _AT + 8 * _WORDS].view(torch.int64)
    if words[:2].tolist() != [1, 1_812_433_254]:
        raise RuntimeError(f"PyTorch {torch.__version__} keeps the state of its generator in another place.")
    words.copy_(torch.frombuffer(bytearray(state), dtype=torch.int32).to(torch.int64) & 0xFFFFFFFF)
    return generator.set_state(whole)


def _number(secret, purpose):
    return int.from_bytes(_bytes(secret, purpose, 8), "little") >> 1  # manual_seed accepts 63 bits


def _bytes(secret, purpose, size=4 * _WORDS):
    return hashlib.shake_256(purpose.encode() + b"\0" + secret).digest(size)
