"""Draws the pieces of arrays again and again and says what they had in common, as JSON."""

import json
import sys
import types

sys.modules["warpboard_cuda"] = types.SimpleNamespace(address_of=None, call=None, seen_by_device=None)
sys.path.insert(0, sys.argv[1])
from warpboard_hold import _pieces  # noqa: E402

arrays = [tuple(array) for array in json.loads(sys.argv[2])]
BLANK, KEPT = 1, 1 << 50
seen, inside, decoys = [0] * len(arrays), True, True
for _ in range(300):
    pieces = _pieces(arrays, BLANK, KEPT)
    own = {piece.kept: piece.own for piece in pieces}
    for piece in pieces:
        which = next((i for i, (to, at, size) in enumerate(arrays) if to <= piece.to and piece.to + 4 * piece.words <= to + size), None)
        inside = inside and which is not None and piece.own - arrays[which][1] == piece.to - arrays[which][0]
        decoys = decoys and (piece.decoy == BLANK or own[piece.decoy] != piece.own)
        if which is not None:
            seen[which] += 1
print(json.dumps({"seen": [n > 0 for n in seen], "inside": inside, "decoys": decoys}))
