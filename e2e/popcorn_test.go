package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/web/popcorn/popcorntest"
)

// TestPopcornCLIWorksUnchanged sends the usual requests of popcorn-cli to a real site, in the form of its current
// version and of versions before 1.3.16.
func TestPopcornCLIWorksUnchanged(t *testing.T) {
	tier.Needs(t, tier.Faults)
	s := startTaskSite(t, "--submissions-per-hour", "0")
	ada := &popcorntest.Client{Base: s.url + "/popcorn", Token: s.person(t, "ada", accounts.RoleUser).token,
		Poll: 200 * time.Millisecond}
	right, wrong := []byte(kernel("")), []byte(strings.Replace(kernel(""), "data.size +", "data.size -", 1))
	if list, err := ada.Leaderboards(t.Context()); err != nil ||
		!slices.Contains(list, popcorntest.Leaderboard{Name: smallTask, Description: "Sum of two"}) {
		t.Errorf("leaderboards: %+v, %v", list, err)
	}
	if list, err := ada.GPUs(t.Context(), smallTask); err != nil || !slices.Equal(list, []string{"CPU"}) {
		t.Errorf("GPUs: %v, %v", list, err)
	}

	for mode, last := range map[string]string{"test": "test", "benchmark": "benchmark", "leaderboard": "leaderboard"} {
		d, err := ada.Submit(t.Context(), "SUM", "cpu", mode, "mine.cpp", right)
		if err != nil || len(d.Runs) == 0 || !d.Done {
			t.Fatalf("%s: %+v, %v", mode, d, err)
		}
		end := d.Runs[len(d.Runs)-1]
		if end.Mode != last || !end.Passed || end.Runner != "CPU" ||
			(mode == "leaderboard") != (end.Score != nil && *end.Score > 0 && *end.Score < 1) {
			t.Errorf("%s ended with %+v", mode, end)
		}
	}
	if _, err := ada.Submit(t.Context(), smallTask, "CPU", "test", "mine.cpp", wrong); err == nil ||
		!strings.Contains(err.Error(), "failed: ") ||
		!strings.Contains(err.Error(), "wrong answer: expected 15, got -7") {
		t.Errorf("a wrong kernel: %v", err)
	}
	if _, err := ada.Submit(t.Context(), smallTask, "CPU", "leaderboard", "mine.cpp", []byte("int x")); err == nil ||
		!strings.Contains(err.Error(), "failed: ") {
		t.Errorf("a kernel that does not compile: %v", err)
	}

	for source, want := range map[*[]byte]string{&right: "on CPU (leaderboard): passed",
		&wrong: "wrong answer: expected 15, got -7"} {
		got, err := ada.Stream(t.Context(), smallTask, "CPU", "leaderboard", "mine.cpp", *source, nil)
		if err != nil || len(got.Reports) != 1 || !strings.Contains(got.Reports[0], want) ||
			got.Events[0].Name != "status" || got.Events[0].After > 5*time.Second {
			t.Errorf("streamed: %+v, %v, want %q", got, err, want)
		}
	}

	list, err := ada.List(t.Context(), smallTask, 20)
	if err != nil || len(list) != 7 {
		t.Fatalf("the list: %+v, %v", list, err)
	}
	if d, err := ada.Show(t.Context(), list[0].ID); err != nil || d.Code == "" || d.LeaderboardName != smallTask {
		t.Errorf("shown: %+v, %v", d, err)
	}
	// The newest two submissions cannot be deleted: they are ranked and in review, because their source names sockets.
	if _, err := ada.Delete(t.Context(), list[3].ID); err != nil {
		t.Error(err)
	}
	if list, err := ada.List(t.Context(), smallTask, 20); err != nil || len(list) != 6 {
		t.Errorf("after a deletion: %+v, %v", list, err)
	}
}
