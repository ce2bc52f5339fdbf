"""Chooses what of arrays is sealed again and again and says what the choices had in common, as JSON."""

import json
import sys
import types

sys.modules["warpboard_cuda"] = types.SimpleNamespace(address_of=None, call=None, queue_wait=None, seen_by_device=None)
sys.path.insert(0, sys.argv[1])
from warpboard_hold import _Division  # noqa: E402
from warpboard_limits import MOST_RECORDS, RECORD_WORDS  # noqa: E402

arrays = [tuple(array) for array in json.loads(sys.argv[2])]
INPUTS, BLANK, KEPT = 1 << 39, 1, 1 << 52
seen, inside, decoys, records = [0] * len(arrays), True, True, True


def array_of(row):
    """Which array a row lies in as a whole."""
    to = INPUTS + 4 * row.place
    return next((i for i, (at, own, size) in enumerate(arrays)
                 if at <= to and to + 4 * row.words <= at + size and row.own - own == to - at), None)


for _ in range(300):
    division = _Division.of(arrays, INPUTS)
    count, whole = division.all_records(), division.whole
    rows, pieces = division.choose(INPUTS, BLANK, KEPT)
    for row in rows:
        which = array_of(row)
        inside = inside and which is not None
        if which is not None:
            seen[which] += 1
    own = {piece.kept: piece.own for piece in pieces}
    decoys = decoys and all(piece.decoy == BLANK or own[piece.decoy] != piece.own for piece in pieces)
    ends = [row.first + -(-row.words // RECORD_WORDS) for row in rows]
    records = records and [row.first for row in rows] == [0, *ends][: len(rows)] and ([0, *ends][-1] == count <= MOST_RECORDS)
    whole_words = {INPUTS + 4 * row.place: row.words for row in rows if INPUTS + 4 * row.place in whole}
    inside = inside and all(whole_words[to] == size // 4 for to, _, size in arrays if to in whole)
print(json.dumps({"seen": [n > 0 for n in seen], "inside": inside, "decoys": decoys, "records": records}))
