package harness

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Small arrays are sealed (encrypted) as a whole, large arrays in random pieces. Large arrays that overlap are not
// sealed, because a piece moved out of one would be missing in the copy of the other.
func TestPartsOfEveryArrayAreSealedUntilTheRelease(t *testing.T) {
	type array = [3]int64 // address in the runner, address in the judge, bytes
	row := func(n int, bytes int64) (list []array) {
		for i := range int64(n) {
			list = append(list, array{1<<40 + i<<31, 1<<45 + i<<31, bytes})
		}
		return list
	}
	none := func(n int) []bool { return make([]bool, n) }
	all := func(n int) (list []bool) {
		for range n {
			list = append(list, true)
		}
		return list
	}
	n := newFakeGPU(t)
	writeAll(t, n.dir, testdata(t, "gpu/pieces.cpp"))
	pieces := n.build(t, "pieces", "-D__CUDACC__", "pieces.cpp")
	for name, tt := range map[string]struct {
		arrays []array
		seen   []bool
	}{
		"one large":          {row(1, 1<<30), all(1)},
		"one word":           {row(1, 4), all(1)},
		"forty":              {row(40, 1<<20), all(40)},
		"four hundred small": {row(400, 64), all(400)},
		"small beside large": {append(row(1, 1<<31), array{1 << 50, 1 << 51, 64}), all(2)},
		"small views of one": {[]array{{1 << 40, 1 << 45, 4096}, {1 << 41, 1 << 45, 4096}}, all(2)},
		"large views of one": {[]array{{1 << 40, 1 << 45, 1 << 22}, {1 << 41, 1 << 45, 1 << 22}}, none(2)},
		"a part of another": {[]array{{1 << 40, 1 << 45, 1 << 22}, {1 << 41, 1<<45 + 1024, 1 << 21},
			{1 << 42, 1 << 46, 1 << 22}}, []bool{false, false, true}},
		"aligned to no word":    {[]array{{1<<40 + 2, 1 << 45, 4096}}, none(1)},
		"less than a word":      {[]array{{1 << 40, 1 << 45, 3}}, none(1)},
		"neighbours that touch": {[]array{{1 << 40, 1 << 45, 512}, {1<<40 + 512, 1<<45 + 512, 512}}, all(2)},
	} {
		var given []string
		for _, a := range tt.arrays {
			given = append(given, fmt.Sprint(a[0]), fmt.Sprint(a[1]), fmt.Sprint(a[2]))
		}
		out, err := exec.CommandContext(t.Context(), pieces, given...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		type found struct {
			Seen                    []bool
			Inside, Decoys, Records bool
		}
		var got found
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if diff := cmp.Diff(found{tt.seen, true, true, true}, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
