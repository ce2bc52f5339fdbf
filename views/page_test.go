package views

import "testing"

func TestPagesNameAReleaseOrACommit(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3",
		"v0.0.0-20261126065459-80bcafd55c33":         "80bcafd55c33",
		"v1.2.4-0.20261126065459-80bcafd55c33+dirty": "80bcafd55c33", "(devel)": "(devel)"} {
		if got := shortVersion(version); got != want {
			t.Errorf("%s is shown as %s", version, got)
		}
	}
}
