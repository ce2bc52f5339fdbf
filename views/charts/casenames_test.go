package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACaseIsNamedWithoutItsSeed(t *testing.T) {
	for name, c := range map[string]struct{ specs, want []string }{
		"sizes": {[]string{"size: 1024; seed: 1", "seed: 2; size: 4096"}, []string{"size: 1024", "size: 4096"}},
		"equal ones": {[]string{"n: 8; seed: 1", "n: 8; seed: 2", "n: 9; seed: 3"},
			[]string{"n: 8; seed: 1", "n: 8; seed: 2", "n: 9"}},
		"seeds only": {[]string{"seed: 1", "seed: 2"}, []string{"seed: 1", "seed: 2"}},
		"other":      {[]string{"reseed: 3; n: 1", ""}, []string{"reseed: 3; n: 1", ""}},
	} {
		if diff := cmp.Diff(c.want, CaseNames(c.specs)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
