package toolchain

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// slowCompiler takes all but a second of each command's time limit, and produces the expected output.
type slowCompiler struct{ running, most atomic.Int32 }

func (c *slowCompiler) Run(_ context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if n := c.running.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	time.Sleep(spec.Limits.WallTime - time.Second/2)
	c.running.Add(-1)
	out := sandbox.Outcome{Files: map[string][]byte{}}
	for name := range spec.CollectFiles {
		out.Files[name] = []byte("made")
	}
	return out, nil
}

// TestManyFilesAreBuiltAFewAtATimeAndNotForLong checks that a submission with the most files allowed takes no more
// memory than one with a single file, and does not occupy the build slot for half an hour.
func TestManyFilesAreBuiltAFewAtATimeAndNotForLong(t *testing.T) {
	names, found := []string{}, tools()
	for i := range tasks.MaxSubmissionFiles {
		names = append(names, fmt.Sprintf("f%02d", i))
	}
	for lang, atMost := range map[tasks.Lang]time.Duration{tasks.LangCPP: 5 * time.Minute,
		tasks.LangPython: 7 * time.Minute} {
		t.Run(string(lang), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				compiler := &slowCompiler{}
				b := NewBuilder(Config{Toolchain: found, Runner: compiler, ObjectDir: t.TempDir()})
				j := map[tasks.Lang]func(*testing.T, string) job.Job{tasks.LangCPP: cppJob,
					tasks.LangPython: pyJob}[lang](t, "correct."+string(lang))
				further := slices.Clone(names)
				for i := range further {
					further[i] += "." + string(lang)
					j.Sources[further[i]] = []byte("# load_inline")
				}
				j.Task = j.Task.WithFiles(further)
				begun := time.Now()
				_, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu()})
				if took := time.Since(begun); err != nil || result.Status != job.StatusPass || took > atMost ||
					compiler.most.Load() > 3 {
					t.Errorf("%s: %s after %v, %d commands at a time, %v", lang, result.Status, took,
						compiler.most.Load(), err)
				}
			})
		})
	}
}
