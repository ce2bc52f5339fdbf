package taskrun

import (
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// programRun is one execution of the task's program.
type programRun struct {
	stage         job.Stage
	cases         []tasks.Case
	seed          *uint64
	timeout       time.Duration
	requiredCases []tasks.Case // cases that must be reported for a pass; empty if the program decides
	isTimed       bool
}

// planProgramRuns returns the steps of a job in order. The first one that does not pass ends the job.
//
// A judge generates each input with a new secret seed and never reuses it, so the output of a stage reveals nothing.
// The ranked stage measures like the benchmark stage, with more processes, so a ranked run has no benchmark stage. A
// bundle's own program runs all three stages on public inputs, as its authors expect, and then all again with the
// secret seed, only for a verdict.
func planProgramRuns(j job.Job) []programRun {
	// Only a task's own program uses this seed; a judge generates one for each input.
	public := harness.PublicSeed(j.Task)
	test := newProgramRun(j, job.StageTest, public)
	benchmark := newProgramRun(j, job.StageBenchmark, public)
	switch j.Mode {
	case job.ModeTest:
		return []programRun{test}
	case job.ModeBenchmark:
		return []programRun{benchmark}
	case job.ModeRanked:
		ranked := newProgramRun(j, job.StageRanked, public)
		if j.Task.HasOwnHarness {
			return []programRun{test, benchmark, ranked}
		}
		return []programRun{test, ranked}
	default:
		return nil
	}
}

// secretSteps returns the steps of a bundle with the secret seed, or nil for other jobs.
func secretSteps(j job.Job) []programRun {
	if j.Mode != job.ModeRanked || !j.Task.HasOwnHarness {
		return nil
	}
	var steps []programRun
	for _, stage := range []job.Stage{job.StageTest, job.StageBenchmark, job.StageRanked} {
		s := newProgramRun(j, stage, &j.SecretSeed)
		// Its times are neither measured nor stored, because a kernel could encode the secret seed in them.
		s.isTimed = false
		steps = append(steps, s)
	}
	return steps
}

func newProgramRun(j job.Job, stage job.Stage, seed *uint64) programRun {
	s := programRun{
		stage:   stage,
		cases:   harness.StageCases(j.Task, stage),
		seed:    seed,
		isTimed: stage != job.StageTest,
	}
	if !j.Task.HasOwnHarness {
		s.requiredCases = s.cases
	}
	limits := map[job.Stage]time.Duration{
		job.StageTest:      j.Task.Timeouts.Test,
		job.StageBenchmark: j.Task.Timeouts.Benchmark,
		job.StageRanked:    j.Task.Timeouts.Ranked,
	}
	s.timeout = limits[stage]
	return s
}

// slotCount returns the number of slots that the task needs at the same time. It returns a Rejection if the machine has
// fewer.
func slotCount(def tasks.Definition, have int) (int, error) {
	need := def.WorldSize()
	// On the CPU and for one GPU one slot is always available, because a slot of this device received the job.
	if need > have && def.MultiGPU {
		return 0, attempt.NewRejection("This task needs %d GPUs of one kind in one machine, and this one has %d: choose a device with more.", need, have)
	}
	return need, nil
}
