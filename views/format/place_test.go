package format

import "testing"

func TestAPlaceReadsAsAnOrdinal(t *testing.T) {
	for rank, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th",
		21: "21st", 62: "62nd", 111: "111th", 1003: "1003rd"} {
		if got := Ordinal(rank, false); got != want {
			t.Errorf("%d: %q, want %q", rank, got, want)
		}
	}
	if got := Ordinal(3, true); got != "tied 3rd" {
		t.Errorf("a tie: %q", got)
	}
}
