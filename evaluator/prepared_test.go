package evaluator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// TestTheProcessesOfARankedStageAreMadeBeforeAnythingIsTimed on a GPU that has memory for their contexts.
func TestTheProcessesOfARankedStageAreMadeBeforeAnythingIsTimed(t *testing.T) {
	for name, c := range map[string]struct {
		mode   job.Mode
		memory uint64
		change func(*tasks.Definition)
		want   []string
	}{
		"ranked":             {mode: job.ModeRanked, memory: 80e9, want: []string{"test 6", "leaderboard 0"}},
		"test":               {mode: job.ModeTest, memory: 80e9, want: []string{"test 0"}},
		"a small GPU":        {mode: job.ModeRanked, memory: 8e9, want: []string{"test 0", "leaderboard 0"}},
		"several GPUs":       {mode: job.ModeRanked, memory: 80e9, change: func(d *tasks.Definition) { d.MultiGPU = true }, want: []string{"test 0", "leaderboard 0"}},
		"little memory":      {mode: job.ModeRanked, memory: 80e9, change: func(d *tasks.Definition) { d.MemoryLimit = 1 << 30 }, want: []string{"test 0", "leaderboard 0"}},
		"a program of tasks": {mode: job.ModeTest, memory: 80e9, change: func(d *tasks.Definition) { d.OwnHarness = true }, want: []string{"test 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			unit := gpu(0)
			unit.MemoryBytes = c.memory
			s := newSite(t)
			s.start(evaluator.Config{Slots: []device.Slot{unit}, Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, fmt.Sprint(st.Mode, " ", st.Prepare))
				return pass(st.StageRequest), nil
			}}})
			j := onGPU(aJob("a1", c.mode))
			if c.change != nil {
				c.change(&j.Task)
			}
			s.run(j)
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(c.want, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}
