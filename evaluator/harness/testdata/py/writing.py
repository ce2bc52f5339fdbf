"""Reports calls whose kernel takes 50 µs, as testdata/walk/writing.cpp does."""

import sys

sys.path.insert(0, sys.argv[1])
from warpboard_calls import Call  # noqa: E402
from warpboard_clocks import Clocks, Constants  # noqa: E402


def call(event, prepared, written):
    return Call(None, None, event, event + 12e3, event + 18e3, event + 30e3, False, prepared * 1e3, 20e3, (4,), 1, 0,
                at_once=True, written=int(written * 1e6))


numbers = [float(text) for text in sys.argv[2:]]
own, *pairs = zip(numbers[::2], numbers[1::2])
clocks = Clocks([call(50e3, *pairs[i % len(pairs)]) for i in range(40)],
                Constants.of("cuda", [call(2e3, *own) for _ in range(40)]))
for field, value in clocks.lines():
    print(f"{field}: {value:g}" if isinstance(value, float) else f"{field}: {value}")
