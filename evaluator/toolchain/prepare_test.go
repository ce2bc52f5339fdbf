package toolchain

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// hintOf returns the preparation that the site announces for a job's task.
func hintOf(j job.Job) job.PrecompileJob {
	sources := maps.Clone(j.Sources)
	maps.DeleteFunc(sources, func(name string, _ []byte) bool {
		return slices.ContainsFunc(j.Task.Files, func(f tasks.File) bool { return f.Name == name && f.IsSubmission() })
	})
	return job.PrecompileJob{TaskName: "mine", TaskHash: j.TaskHash, Task: j.Task, Sources: sources}
}

// prepare compiles a task's files in advance, and checks their number.
func prepare(t *testing.T, b *Builder, p job.PrecompileJob, want int) {
	t.Helper()
	made, err := b.PrecompileTask(t.Context(), p, cpu())
	if err != nil {
		t.Fatal(err)
	}
	if made != want {
		t.Errorf("%d files were compiled, want %d", made, want)
	}
}

// ownBundleJob returns a task with its own eval program and a second file.
func ownBundleJob(t *testing.T) job.Job {
	j := cppJob(t, "correct.cpp")
	j.Task.HasOwnHarness = true
	j.Task.Config.Sources = []string{"eval.cpp", "more.cpp", "submission.cpp"}
	j.Task.Files = append(slices.Clone(j.Task.Files),
		tasks.File{Name: "eval.cpp", Source: "eval.cpp"}, tasks.File{Name: "more.cpp", Source: "more.cpp"})
	j.Sources["eval.cpp"] = []byte(
		"#include <unistd.h>\nint answer();\nint main() { return answer() == write(3, \"check: pass\\n\", 12) ? 0 : 1; }\n")
	j.Sources["more.cpp"] = []byte("int answer() { return 12; }\n")
	return j
}

func TestPreparedTasksFirstSubmissionCompilesOnlyItself(t *testing.T) {
	older := legacyJob("cpp", "train.cuh", read(t, "legacy/correct.cuh"))
	older.Sources["reference.cuh"] = read(t, "legacy/reference.cuh")
	for name, test := range map[string]struct {
		job   job.Job
		files []string
	}{
		"our harness":       {cppJob(t, "correct.cpp"), []string{"eval.cpp", "warpboard_runner.cpp"}},
		"the bundle's own":  {ownBundleJob(t), []string{"eval.cpp", "more.cpp"}},
		"the legacy format": {older, []string{"eval.cpp"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, spy := newSpiedBuilderOn(t, fakeCompiler{})
			prepare(t, b, hintOf(test.job), len(test.files))
			for _, spec := range spy.specs() {
				if len(spec.DeviceNodes) > 0 || spec.MountProc {
					t.Errorf("compiled with devices: %+v", spec)
				}
			}
			prepare(t, b, hintOf(test.job), 0)
			before := len(spy.specs())
			_, result := mustBuild(t, b, test.job)
			if !slices.Equal(result.ReusedFiles, test.files) || result.FromCache {
				t.Errorf("reused %q, cached %v; want %q", result.ReusedFiles, result.FromCache, test.files)
			}
			if n := len(spy.specs()) - before; n != 2 {
				t.Errorf("%d commands, want those for submission and link", n)
			}
		})
	}
}

func TestAFailedPreparationHasAReason(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b := newBuilder()
	broken := cppJob(t, "correct.cpp")
	broken.Sources["reference.h"] = []byte("nonsense;")
	flags := cppJob(t, "correct.cpp")
	flags.Task.Config.CompileFlags = []string{"-fplugin=/tmp/x.so"}
	elsewhere := cppJob(t, "correct.cpp")
	elsewhere.Task.Lang = tasks.LangCUDA
	for name, test := range map[string]struct {
		job  job.Job
		want string
	}{
		"does not compile": {broken, "Compiling eval.cpp failed: "},
		"forbidden flag": {flags,
			`config.compile_flags[0]: "-fplugin=/tmp/x.so" is not among the flags that a C++ task may set`},
		"no compiler": {elsewhere, ErrNoCompiler.Error()},
	} {
		if name == "no compiler" && tools().NVCC != nil {
			continue
		}
		if _, err := b.PrecompileTask(t.Context(), hintOf(test.job), cpu()); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	prepare(t, b, hintOf(pyJob(t, "correct.py")), 0)
}

// TestABuildNeedsNoCache: a full disk must not fail what people submit.
func TestABuildNeedsNoCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "objects")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(Config{Toolchain: tools(), Runner: &spyRunner{ProcessRunner: fakeCompiler{}}, ObjectDir: file})
	if _, err := b.PrecompileTask(t.Context(), hintOf(cppJob(t, "correct.cpp")), cpu()); err != nil {
		t.Error(err)
	}
}

func TestPreparingEndsWithItsContext(t *testing.T) {
	b, _ := newSpiedBuilderOn(t, fakeCompiler{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.PrecompileTask(ctx, hintOf(cppJob(t, "correct.cpp")), cpu()); !errors.Is(err, ctx.Err()) {
		t.Errorf("error is %v", err)
	}
	prepare(t, b, hintOf(cppJob(t, "correct.cpp")), 2)
}

// TestAFilesNeedOfTheSubmissionIsDetectedOnce has a task file that includes the submission, so it cannot be compiled
// alone. That must be tried only once.
func TestAFilesNeedOfTheSubmissionIsDetectedOnce(t *testing.T) {
	tier.Needs(t, tier.Judge)
	j := ownBundleJob(t)
	j.Task.Config.Sources = []string{"eval.cpp"}
	j.Sources["eval.cpp"] = []byte("#include <unistd.h>\n#include \"submission.cpp\"\n" +
		"int main() { custom_kernel({}); return write(3, \"check: pass\\n\", 12) == 12 ? 0 : 1; }\n")
	b, spy := newSpiedBuilder(t)
	prepare(t, b, hintOf(j), 0)
	before := len(spy.specs())
	if _, result := mustBuild(t, b, j); len(result.ReusedFiles) > 0 {
		t.Errorf("reused %q", result.ReusedFiles)
	}
	if n := len(spy.specs()) - before; n != 2 {
		t.Errorf("%d commands, want one to compile and one to link", n)
	}
}

// together compiles a task's files only when all builds of submissions are running.
type together struct {
	fakeCompiler
	builds *sync.WaitGroup
}

func (r together) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	switch {
	case slices.Contains(spec.Argv, "submission.cpp"):
		r.builds.Done()
	case slices.Contains(spec.Argv, "eval.cpp"), slices.Contains(spec.Argv, "warpboard_runner.cpp"):
		r.builds.Wait()
	}
	return r.fakeCompiler.Run(ctx, spec)
}

func TestConcurrentBuildsOfATaskCompileItsFilesOnce(t *testing.T) {
	submissions := []string{"correct.cpp", "wrong.cpp", "stale.cpp"}
	var on sync.WaitGroup
	on.Add(len(submissions))
	b, spy := newSpiedBuilderOn(t, together{builds: &on})
	jobs := make([]job.Job, len(submissions))
	for i, name := range submissions {
		jobs[i] = cppJob(t, name)
	}
	var builds sync.WaitGroup
	for i, j := range jobs {
		builds.Go(func() {
			place := cpu()
			place.SandboxSlot = i
			if a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: place}); a == nil {
				t.Errorf("%s: %+v, %v", submissions[i], result.Failure, err)
			}
		})
	}
	builds.Wait()
	if n := len(spy.specs()); n != 2+2*len(jobs) {
		t.Errorf("%d commands for %d submissions, want the harness once", n, len(jobs))
	}
}
