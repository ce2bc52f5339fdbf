package attempt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutKeepsBothEndsAndCharactersWhole(t *testing.T) {
	for _, limit := range []int{0, 1, 30, 31, 32, 33, 34, 50, 100} {
		got := Cut("begin "+strings.Repeat("é", 200)+" end", limit)
		if !utf8.ValidString(got) || !strings.Contains(got, "bytes cut") || len(got) > limit+40 {
			t.Errorf("limit %d: %q", limit, got)
		}
		if limit == 100 && (!strings.HasPrefix(got, "begin é") || !strings.HasSuffix(got, "é end")) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := Cut("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}
