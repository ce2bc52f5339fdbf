package boards

import "testing"

func TestSummariesAreRememberedByChangeNumberAndNotWithoutEnd(t *testing.T) {
	r := newRemembered()
	for version := range int64(mostSummaries + 10) {
		r.put(map[Key]Summary{{version, "CPU"}: {Change: 7, Size: version}}, 0)
	}
	if r.kept.Len() != mostSummaries {
		t.Errorf("%d boards are remembered, want %d", r.kept.Len(), mostSummaries)
	}
	last := Key{mostSummaries + 9, "CPU"}
	if got, ok := r.get(last, 7, 0); !ok || got.Size != last.VersionID {
		t.Errorf("the last board: %+v, %v", got, ok)
	}
	for _, change := range []int64{6, 8} {
		if _, ok := r.get(last, change, 0); ok {
			t.Errorf("a board at change 7 is told of change %d", change)
		}
	}
}
