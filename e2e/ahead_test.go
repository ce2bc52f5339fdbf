package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/tasks"
	"warpboard/web/client"
)

// compiledAhead waits until a worker's log says that it has compiled what belongs to a task.
func (p *process) compiledAhead(t *testing.T, task string) {
	t.Helper()
	waitFor(t, 3*patience, task+" to be compiled ahead", func() error {
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, "task precompiled") && strings.Contains(line, "task="+task+" ") {
				return nil
			}
		}
		return errors.New("the log does not say so")
	})
}

// wantReused fails unless the run's build found the task's own units compiled.
func wantReused(t *testing.T, run client.Run, units ...string) {
	t.Helper()
	if err := wantState(run, models.StateDone); err != nil {
		t.Fatal(err)
	}
	if build := run.Stages[0]; build.Stage != job.StageBuild || build.Cached || !slices.Equal(build.Reused, units) {
		t.Errorf("stage %s, cached %v, reused %q; want %q", build.Stage, build.Cached, build.Reused, units)
	}
}

// publish puts a task on the running site, in its database.
func (s *site) publish(t *testing.T, bundle *tasks.Bundle) {
	t.Helper()
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	owner, err := store.Operator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := models.NewTask{Slug: bundle.Name, Bundle: bundle, TaskSettings: models.TaskSettings{Devices: []string{"CPU"}}}
	if _, err := store.CreateTask(t.Context(), owner, in); err != nil {
		t.Fatal(err)
	}
}

// ownProgramTask is the small task with an eval program and a second unit of its own.
func ownProgramTask(t *testing.T) *tasks.Bundle {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own-program")
	if err := os.CopyFS(dir, os.DirFS("testdata/task")); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "task.yml"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer("config: {", "config: {sources: [eval.cpp, more.cpp, submission.cpp], ",
		"files:\n", "files:\n  - {name: eval.cpp, source: main.cpp}\n  - {name: more.cpp, source: more.cpp}\n").Replace(string(config))
	for name, text := range map[string]string{
		"task.yml": own,
		"main.cpp": "#include <unistd.h>\nint size();\nint main() { return write(3, \"check: pass\\n\", 12) == size() ? 0 : 1; }\n",
		"more.cpp": "int size() { return 12; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bundle, err := tasks.OpenFolder(os.DirFS(filepath.Dir(dir)), tasks.Options{}).Bundle(filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

func TestWhatBelongsToATaskIsCompiledBeforeTheFirstSubmission(t *testing.T) {
	t.Parallel()
	s := startTaskSite(t, "--compile-ahead", "--object-cache", t.TempDir())
	ada := s.person(t, "Ada", models.RoleUser)
	s.compiledAhead(t, smallTask)
	wantReused(t, ada.passes(job.ModeTest), "eval.cpp", "warpboard_runner.cpp")

	own := ownProgramTask(t)
	s.publish(t, own)
	s.compiledAhead(t, own.Name)
	sub, err := ada.Submit(t.Context(), client.NewSubmission{
		Task: own.Name, Devices: []string{"CPU"}, Mode: job.ModeTest, FileName: "submission.cpp", Source: kernel(""),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantReused(t, ada.ended(sub.ID), "eval.cpp", "more.cpp")
}

func TestAWorkerThatJoinsLaterCompilesTheOpenTasksAhead(t *testing.T) {
	t.Parallel()
	s, nats := startOpenSite(t)
	ada := s.person(t, "Ada", models.RoleUser)
	w := s.startWorker(t, nats, "rack-1", "--compile-ahead", "--object-cache", t.TempDir())
	w.compiledAhead(t, smallTask)
	wantReused(t, ada.passes(job.ModeTest), "eval.cpp", "warpboard_runner.cpp")
}
