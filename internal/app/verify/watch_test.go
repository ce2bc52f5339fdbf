package verify

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/internal/app/cli/console"
)

// TestVerifyTaskWatchesWhatItChecks checks that each change of the task's files causes exactly one report.
func TestVerifyTaskWatchesWhatItChecks(t *testing.T) {
	folder := taskFolder(t, "vectoradd_cpp")
	file := filepath.Join(folder, "task.yml")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, file, strings.Replace(string(sound), "[CPU]", "[CPU, H1000, A100-SXM-80GB]", 1))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		env := console.Environment{Getenv: func(string) string { return "" }, Stdout: in, Stderr: io.Discard}
		ended <- execute(ctx, TaskCommand(env), []string{"--lint", "--json", "--watch", folder})
	}()
	reports := json.NewDecoder(out)
	next := func() (r verifyReport) {
		t.Helper()
		if err := reports.Decode(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := next(); !r.OK || len(r.Tasks) != 1 || !strings.Contains(strings.Join(r.Tasks[0].Warnings, " "),
		`"H1000"`) || strings.Contains(strings.Join(r.Tasks[0].Warnings, " "), `"A100-SXM-80GB" is`) {
		t.Errorf("at first %+v", r)
	}
	writeAt(t, filepath.Join(filepath.Dir(folder), "beside.txt"), "not of the task\n")
	replace(t, file, "speed: fast\n"+string(sound))
	want := []problemReport{{"task.yml", 1, "speed", "unknown key"}}
	r := next()
	if len(r.Problems) == 1 { // the message and the file are not compared
		want[0].Message, want[0].File = r.Problems[0].Message, r.Problems[0].File
	}
	if diff := cmp.Diff(want, r.Problems); r.OK || diff != "" || !strings.HasSuffix(want[0].File, "task.yml") {
		t.Errorf("with a mistake %+v\n%s", r, diff)
	}
	replace(t, file, string(sound))
	if r := next(); !r.OK || len(r.Tasks) != 1 || len(r.Tasks[0].Warnings) > 0 {
		t.Errorf("without it %+v", r)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func writeAt(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// replace saves a file atomically by renaming, as editors do, so that no reader sees a partial file.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.Rename(writeAt(t, filepath.Join(t.TempDir(), "saved"), text), file); err != nil {
		t.Fatal(err)
	}
}
