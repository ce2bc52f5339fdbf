package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// smallTask is the name, and testdata/task the files, of a task with short runs: one test case and one benchmark case
// of the sum of two numbers.
const smallTask = "sum"

// startTaskSite starts a server with one CPU slot and the small task.
func startTaskSite(t *testing.T, args ...string) *site {
	t.Helper()
	return startSite(t, append(smallTaskArgs(t), args...)...)
}

// smallTaskArgs returns the flags of a site with the small task and one CPU slot. They measure a score in one process
// instead of the default number, to save time.
func smallTaskArgs(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, smallTask), os.DirFS("testdata/task")); err != nil {
		t.Fatal(err)
	}
	return []string{"--tasks", dir, "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "1"}
}

// once returns C++ that executes does in the first call of each process only, so that a slow statement does not exceed
// the time limit of a stage.
func once(does string) string {
	return "static bool called; if (!called) { called = true; " + does + " }"
}

// kernel returns a correct submission to the small task that executes before, C++ statements, first. They can call
// tells, which prints the text of errno and exits: with code 4 if failed is true, otherwise with 5.
func kernel(before string) string {
	return `#include "task.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

[[maybe_unused]] static void tells(bool failed) {
    perror("refused");
    exit(failed ? 4 : 5);
}

output_t custom_kernel(input_t data) {
    ` + before + `
    return data.size + data.seed;
}
`
}

// person uses the site's API with their own token.
type person struct {
	*client.Client
	t     *testing.T
	token string
}

// person creates an account with the command line of the operator.
func (s *site) person(t *testing.T, name string, role accounts.Role) person {
	t.Helper()
	var out bytes.Buffer
	args := []string{"token", "--data", s.data, "--user", name, "--role", string(role)}
	if i := slices.Index(s.args, "--database-url"); i >= 0 {
		args = append(args, s.args[i:i+2]...)
	}
	env := app.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}
	if err := app.Run(t.Context(), env, args); err != nil {
		t.Fatal(err)
	}
	token := string(bytes.TrimSpace(out.Bytes()))
	return person{client.New(s.url, token), t, token}
}

// submit submits a kernel for the small task and returns the submission's ID.
func (p person) submit(mode job.Mode, source string) int64 {
	p.t.Helper()
	sub, err := p.Submit(p.t.Context(), client.NewSubmission{
		Task: smallTask, Devices: []string{"CPU"}, Mode: mode, FileName: "submission.cpp", Source: source,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return sub.ID
}

// look returns the only run of a submission.
func (p person) look(id int64) client.Run {
	p.t.Helper()
	sub, err := p.Submission(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return sub.Runs[0]
}

// reach waits until the run of a submission is in a state, and fails the test if the run ends in another one.
func (p person) reach(id int64, state work.RunState) client.Run {
	p.t.Helper()
	var run client.Run
	tier.WaitFor(p.t, fmt.Sprintf("submission %d to be %s", id, state), func() error {
		run = p.look(id)
		if run.State != string(state) && work.RunState(run.State).IsFinal() {
			p.t.Fatalf("submission %d was never seen %s; it is %s: %+v", id, state, run.State, run.Failure)
		}
		return wantState(run, state)
	})
	return run
}

func wantState(run client.Run, state work.RunState) error {
	if run.State != string(state) {
		return fmt.Errorf("it is %s: %+v", run.State, run.Failure)
	}
	return nil
}

// ended waits for the end of the run of a submission, and returns it.
func (p person) ended(id int64) client.Run {
	p.t.Helper()
	var run client.Run
	tier.WaitFor(p.t, fmt.Sprintf("submission %d to end", id), func() error {
		if run = p.look(id); work.RunState(run.State).IsFinal() {
			return nil
		}
		return errors.New("it is " + run.State)
	})
	return run
}

// passes submits a correct kernel, and fails the test unless it passes.
func (p person) passes(mode job.Mode) client.Run {
	p.t.Helper()
	run := p.ended(p.submit(mode, kernel("")))
	if err := wantState(run, work.StateDone); err != nil {
		p.t.Fatalf("an honest kernel: %v", err)
	}
	return run
}
