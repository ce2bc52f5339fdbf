package share

import (
	"testing"

	"warpboard/models/submissions"
)

func TestAPageOfADatasetEndsBeforeItsSourcesFillTheMemory(t *testing.T) {
	rows := func(sizes ...int64) (list []submissions.Exported) {
		for _, size := range sizes {
			list = append(list, submissions.Exported{SourceBytes: size})
		}
		return list
	}
	for _, tt := range []struct {
		list []submissions.Exported
		want int
	}{
		{nil, 0},
		{rows(1, 2, 3), 3},
		{rows(5, 5), 2},
		{rows(5, 6), 1},
		{rows(11, 1), 1}, // or no page would have it
	} {
		if got := fitting(tt.list, 10); got != tt.want {
			t.Errorf("%+v: %d rows, want %d", tt.list, got, tt.want)
		}
	}
}
