package app

import (
	"os"
	"strings"
	"testing"

	"warpboard/models/db"
)

// TestAGuestWithItsMachinesNameGetsASuffix checks that a worker with a join token adds a new suffix to the host name at
// each start, and that it keeps a chosen name.
func TestAGuestWithItsMachinesNameGetsASuffix(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	seen := map[string]bool{}
	for range 2 {
		w := WorkerSettings{Name: host, JoinToken: "wbj_token"}
		w.setJoinCredential()
		if !strings.HasPrefix(w.Name, workerNameFromHost(host)+"-") || !db.IsValidName(w.Name) || seen[w.Name] {
			t.Errorf("the guest of %s is %q", host, w.Name)
		}
		seen[w.Name] = true
	}
	w := WorkerSettings{Name: "chosen", JoinToken: "wbj_token"}
	if w.setJoinCredential(); w.Name != "chosen" {
		t.Errorf("a chosen name became %q", w.Name)
	}
}
