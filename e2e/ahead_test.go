package e2e

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/tasks"
)

// compiledAhead waits until a worker's log reports that it has compiled a task's files.
func (p *process) compiledAhead(t *testing.T, task string) {
	t.Helper()
	tier.WaitFor(t, task+" to be compiled ahead", func() error {
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, "task precompiled") && strings.Contains(line, "task="+task+" ") {
				return nil
			}
		}
		return errors.New("the log does not say so")
	})
}

// wantReused fails unless the run's build reused the task's own files.
func wantReused(t *testing.T, run client.Run, unitNames ...string) {
	t.Helper()
	if err := wantState(run, work.StateDone); err != nil {
		t.Fatal(err)
	}
	if build := run.Stages[0]; build.Stage != job.StageBuild || build.FromCache || !slices.Equal(build.ReusedFiles, unitNames) {
		t.Errorf("stage %s, cached %v, reused %q; want %q", build.Stage, build.FromCache, build.ReusedFiles, unitNames)
	}
}

// publish stores a task in the database of the running site.
func (s *site) publish(t *testing.T, bundle *tasks.Bundle) {
	t.Helper()
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	owner, err := store.Accounts.OperatorAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := catalog.NewTask{Slug: bundle.Name, Bundle: bundle,
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}}
	if _, err := store.Catalog.CreateTask(t.Context(), owner, in); err != nil {
		t.Fatal(err)
	}
}

// uncompiledTask creates a folder with a copy of the small task. A unique comment in its reference.h ensures that no
// site has compiled it yet. It returns the folder and its parent.
func uncompiledTask(t *testing.T, name string) (parent, dir string) {
	t.Helper()
	parent = t.TempDir()
	dir = filepath.Join(parent, name)
	err := os.CopyFS(dir, os.DirFS("testdata/task"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "reference.h")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, "// "+rand.Text()+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parent, dir
}

const ownProgram = "own-program"

// ownProgramTask creates a folder with an uncompiled copy of the small task that has its own eval program and a second
// source file, which compile fast. It returns the parent of the folder.
func ownProgramTask(t *testing.T) (parent string) {
	t.Helper()
	parent, dir := uncompiledTask(t, ownProgram)
	config, err := os.ReadFile(filepath.Join(dir, "task.yml"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer("config: {", "config: {sources: [eval.cpp, more.cpp, submission.cpp], ",
		"files:\n", "files:\n  - {name: eval.cpp, source: main.cpp}\n  - {name: more.cpp, source: more.cpp}\n").Replace(
		string(config))
	for name, text := range map[string]string{
		"task.yml": own,
		"main.cpp": "#include <unistd.h>\nint size();\nint main() { return write(3, \"check: pass\\n\", 12) == size() ? 0 : 1; }\n",
		"more.cpp": "int size() { return 12; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return parent
}

// testsOwnProgram submits a kernel to the task of ownProgramTask, and returns the run when it has ended.
func (p person) testsOwnProgram() client.Run {
	p.t.Helper()
	sub, err := p.Submit(p.t.Context(), client.NewSubmission{
		Task: ownProgram, Devices: []string{"CPU"}, Mode: job.ModeTest, FileName: "submission.cpp", Source: kernel(""),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.ended(sub.ID)
}

// withoutBuiltIns creates the data of a site without the built-in tasks, which would be compiled in advance, too.
func withoutBuiltIns(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	store, err := models.Open(t.Context(), models.Config{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	bundles, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bundles {
		if err := store.SetSetting(t.Context(), "installed."+db.Slug(b.Name), "deleted since"); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func TestATaskIsCompiledBeforeTheFirstSubmission(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	parent, _ := uncompiledTask(t, smallTask)
	data := withoutBuiltIns(t)
	s := startTaskSite(t, "--compile-ahead", "--tasks", parent, "--data", data)
	s.data = data
	ada := s.person(t, "Ada", accounts.RoleUser)
	s.compiledAhead(t, smallTask)
	wantReused(t, ada.passes(job.ModeTest), "eval.cpp", "warpboard_runner.cpp")

	own, err := tasks.OpenFolder(os.DirFS(ownProgramTask(t)), tasks.ReadOptions{}).ReadBundle(ownProgram)
	if err != nil {
		t.Fatal(err)
	}
	s.publish(t, own)
	s.compiledAhead(t, ownProgram)
	wantReused(t, ada.testsOwnProgram(), "eval.cpp", "more.cpp")
}

func TestAWorkerThatJoinsLaterCompilesTheOpenTasksAhead(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t, "--tasks", ownProgramTask(t))
	ada := s.person(t, "Ada", accounts.RoleUser)
	w := s.startWorker(t, nats, "rack-1", "--compile-ahead")
	w.compiledAhead(t, ownProgram)
	wantReused(t, ada.testsOwnProgram(), "eval.cpp", "more.cpp")
}
