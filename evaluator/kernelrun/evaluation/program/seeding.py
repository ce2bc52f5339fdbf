"""What random inputs come from: a secret of 32 bytes, or the seeds that the request says.

PyTorch uses 32 bits of a seed on a processor: after 16 numbers all seeds can be tried in two minutes. So a secret gives
such a generator all of its state. A kernel that is to know the inputs of a call must contain them, or STATE bytes.
"""

import functools
import hashlib
import random
import sys

import torch

STATE = 19_937 // 8  # bytes of the state of MT19937, which PyTorch, Python and NumPy have
_WORDS = 624  # of 32 bits, which have it
_AT = 24  # where they begin in PyTorch's state, in 64 bits each


def seed(number):
    """Seeds all generators, as a task's author would."""
    random.seed(number)
    torch.manual_seed(number)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


def draw_from(secret):
    """Makes all generators begin with a state that follows from the secret."""
    seed(_number(secret, "device"))
    fill(torch.default_generator, _bytes(secret, "torch"))
    random.seed(_bytes(secret, "random"))
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        numpy.random.seed(numpy.frombuffer(_bytes(secret, "numpy"), "<u4"))


def generator(device, number, secret, kind=()):
    """Returns a generator with the seed, or, with a secret, one that follows from all three. Numbers of another kind,
    as with another mean, are different: otherwise a kernel whose contract has both would find the result computed."""
    made = _generator(device)
    if secret is None:
        return made.manual_seed(number)
    purpose = f"tensor {number} {kind}"
    if made.device.type == "cpu":
        return fill(made, _bytes(secret, purpose))
    return made.manual_seed(_number(secret, purpose))


@functools.cache
def _generator(device):
    """Returns the generator of a device, which each tensor seeds again: making one takes longer."""
    return torch.Generator(device=device)


def fill(generator, state):
    """Gives a processor's generator a state, and returns it."""
    generator.manual_seed(1)
    whole = generator.get_state()
    words = whole[_AT : _AT + 8 * _WORDS].view(torch.int64)
    if words[:2].tolist() != [1, 1_812_433_254]:
        raise RuntimeError(f"PyTorch {torch.__version__} keeps the state of its generator in another place.")
    words.copy_(torch.frombuffer(bytearray(state), dtype=torch.int32).to(torch.int64) & 0xFFFFFFFF)
    return generator.set_state(whole)


def _number(secret, purpose):
    return int.from_bytes(_bytes(secret, purpose, 8), "little") >> 1  # PyTorch takes 63 bits


def _bytes(secret, purpose, size=4 * _WORDS):
    return hashlib.shake_256(purpose.encode() + b"\0" + secret).digest(size)
