package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
)

// TestBudgetSaysWhatIsLeftOfOnesOwnAndOfTheTeams checks the remaining budgets of the caller and the team, as text and
// as JSON.
func TestBudgetSaysWhatIsLeftOfOnesOwnAndOfTheTeams(t *testing.T) {
	w := newWorld(t)
	var me client.User
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		json.NewEncoder(rw).Encode(me)
	})
	own := &client.Budget{Seconds: 600, LeftSeconds: 60, RenewsAt: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
	team := &client.TeamBudget{Team: "Kernels", Members: 3, Seconds: 1000, LeftSeconds: 250}
	for _, tt := range []struct {
		me         client.User
		text, json string
	}{
		{client.User{}, "no limit", "null"},
		{client.User{Budget: own}, "60 of 600 GPU-seconds are left", `"left_seconds": 60`},
		{client.User{TeamBudget: team}, "of team Kernels (3 members) 250 of 1000 GPU-seconds are left",
			`"team": "Kernels"`},
		{client.User{Budget: own, TeamBudget: team}, "60 of 600", `"seconds": 600`},
	} {
		me = tt.me
		if err := w.run(t, "budget", "--server", w.URL); err != nil || !strings.Contains(w.out.String(), tt.text) {
			t.Errorf("%v: %q, want %q", err, w.out.String(), tt.text)
		}
		if err := w.run(t, "budget", "--server", w.URL, "--json"); err != nil ||
			!strings.Contains(w.out.String(), tt.json) {
			t.Errorf("%v: %s, want %s", err, w.out.String(), tt.json)
		}
	}
}

// TestATerminalBoardRanksOnlyTheNewestSoftware checks that the command prints no rank for entries of older software,
// which the page of the board ranks separately.
func TestATerminalBoardRanksOnlyTheNewestSoftware(t *testing.T) {
	w := newWorld(t)
	board := client.Board{Total: 2, Entries: []client.Entry{{Rank: 1, ScoreNS: 12_000, User: client.User{Name: "Ann"}},
		{Rank: 2, OlderSoftware: true, ScoreNS: 9_000, User: client.User{Name: "Ben"}}}}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		json.NewEncoder(rw).Encode(board)
	})
	if err := w.run(t, "board", "sum", "CPU", "--server", w.URL); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(w.out.String(), "\n")
	if len(rows) < 3 || !strings.HasPrefix(rows[1], "1 ") || !strings.HasPrefix(rows[2], "– ") {
		t.Errorf("the board is printed as\n%s", w.out.String())
	}
}

func TestAFilterPicksFromAProfile(t *testing.T) {
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "profile.json") {
			rw.Write([]byte(`{"kernels": [{"name": "sum"}]}`))
			return
		}
		json.NewEncoder(rw).Encode(client.Submission{ID: 1, Runs: []client.Run{{ID: 2, Device: "H200"}}})
	})
	file := filepath.Join(t.TempDir(), "name")
	if err := w.run(t, "profile", "get", "1", "--server", w.URL, "--jq", ".kernels[0].name"); err != nil ||
		w.out.String() != "sum\n" {
		t.Errorf("%v, %q", err, w.out.String())
	}
	if err := w.run(t, "profile", "get", "1", "--server", w.URL, "--jq", ".kernels[0].name", "-o", file); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "sum\n" {
		t.Errorf("%v, %q", err, text)
	}
}
