package boards

import "testing"

func TestAPageOfADatasetEndsBeforeItsSourcesFillTheMemory(t *testing.T) {
	for _, tt := range []struct {
		sizes []int64
		want  int
	}{
		{nil, 0},
		{[]int64{1, 2, 3}, 3},
		{[]int64{5, 5}, 2},
		{[]int64{5, 6}, 1},
		{[]int64{11, 1}, 1}, // a row above the limit gets its own page
	} {
		if got := rowsWithinBytes(tt.sizes, func(size int64) int64 { return size }, 10); got != tt.want {
			t.Errorf("%v: %d rows, want %d", tt.sizes, got, tt.want)
		}
	}
}
