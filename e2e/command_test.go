package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	client "warpboard/clients/go"
	"warpboard/internal/app"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// command runs a command line of this person and returns its output.
func (p person) command(site string, args ...string) (string, error) {
	p.t.Helper()
	var out bytes.Buffer
	env := app.Environment{Stdout: &out, Stderr: io.Discard, Getenv: func(name string) string {
		return map[string]string{"WARPBOARD_SERVER": site, "WARPBOARD_TOKEN": p.token}[name]
	}}
	err := app.Run(p.t.Context(), env, args)
	return out.String(), err
}

// TestTheCommandLineSubmitsWatchesReadsAndCancels uses the command line, an agent, and a browser with a site below a
// path. The sites of other tests are at the root.
func TestTheCommandLineSubmitsWatchesReadsAndCancels(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s := startSiteBelow(t, belowPath, smallTaskArgs(t)...)
	ada := s.person(t, "Ada", accounts.RoleUser)
	file := filepath.Join(t.TempDir(), "submission.cpp")
	slow := kernel("usleep(50000);") // so slow that the agent's kernel is faster even on a busy machine
	if err := os.WriteFile(file, []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(want string, args ...string) {
		t.Helper()
		printed, err := ada.command(s.url, args...)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(printed), " "), want) {
			t.Errorf("warpboard %v: %v; want %q in\n%s", args, err, want, printed)
		}
	}
	printed, err := ada.command(s.url, "submit", file, "--task", smallTask, "--device", "CPU", "--mode", "ranked",
		"--watch", "--json")
	var sub client.Submission
	if err := json.Unmarshal([]byte(printed), &sub); err != nil || !sub.Ended || sub.Runs[0].ScoreNS == nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if err != nil {
		t.Fatal(err)
	}
	says(smallTask+" cpp CPU Sum of two", "tasks")
	says(fmt.Sprintf("Ada %d", sub.ID), "board", smallTask, "CPU")
	says(`"rank": 1`, "board", "--json", smallTask, "CPU")
	says("CPU 1", "devices")
	says("CPU done score", "show", fmt.Sprint(sub.ID))
	says(fmt.Sprintf("%d %s ranked %d CPU done", sub.ID, smallTask, sub.Runs[0].ID), "runs", "--task", smallTask)
	says(strings.Join(strings.Fields(slow), " "), "source", fmt.Sprint(sub.ID))
	ada.submitsSeveralFiles(s.url, says)
	says("a clear difference needs fresh processes of both runs", "compare", fmt.Sprint(sub.ID), fmt.Sprint(sub.ID))
	pulled := filepath.Join(t.TempDir(), "pulled")
	says("is in "+pulled, "task", "pull", smallTask, pulled)
	if _, err := os.Stat(filepath.Join(pulled, "task.yml")); err != nil {
		t.Errorf("the task does not lie in the folder that was named: %v", err)
	}
	wrong := filepath.Join(pulled, "wrong.cpp")
	if err := os.WriteFile(wrong, []byte("not C++"), 0o600); err != nil {
		t.Fatal(err)
	}
	if printed, err := ada.command(s.url, "submit", wrong, "--watch"); console.ExitCode(err) != 3 ||
		!strings.Contains(printed, "CPU    failed") {
		t.Errorf("a submission that does not compile, its task told by %s: exit code %d, %v\n%s", pulled,
			console.ExitCode(err), err, printed)
	}
	t.Run("an agent climbs from the list of tasks to the first rank", func(t *testing.T) {
		s.person(t, "Agent", accounts.RoleUser).climb(t, s.url, kernel(""))
	})
	t.Run("a person works in the browser below the site's path", func(t *testing.T) { s.window(t).worksBelowThePath() })
	creator := s.person(t, "Cleo", accounts.RoleCreator)
	for _, step := range []struct{ args, want string }{
		{"task publish " + pulled + " --name copy --dry-run", "would change: it is new"},
		{"task publish " + pulled + " --name copy", "copy is new"},
		{"task publish " + pulled + " --name copy", "copy is as it was"},
	} {
		if printed, err := creator.command(s.url, strings.Fields(step.args)...); err != nil ||
			!strings.Contains(printed, step.want) {
			t.Errorf("warpboard %s: %v, want %q in\n%s", step.args, err, step.want, printed)
		}
	}
	if err := os.WriteFile(file, []byte(kernel(once("sleep(4);"))), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err = ada.command(s.url, "submit", "--json", "--task", smallTask, "--device", "CPU", file)
	if err := json.Unmarshal([]byte(printed), &sub); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if err != nil {
		t.Fatal(err)
	}
	if printed, err := ada.command(s.url, "cancel", fmt.Sprint(sub.ID)); err != nil {
		t.Errorf("cancel: %v\n%s", err, printed)
	}
	ada.reach(sub.ID, work.StateCancelled)
	for _, wrong := range []struct{ args, want string }{
		{"show me", `"me" is not the number of a submission`},
		{"board " + smallTask, "DEVICE is missing: warpboard board TASK DEVICE"},
		{"board none CPU", "none"},
		{"show 99999", "99999"},
	} {
		if printed, err := ada.command(s.url, strings.Fields(wrong.args)...); err == nil ||
			!strings.Contains(err.Error(), wrong.want) {
			t.Errorf("warpboard %s: %v, want %q\n%s", wrong.args, err, wrong.want, printed)
		}
	}
}
