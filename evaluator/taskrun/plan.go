package taskrun

import (
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// step is one run of the task's program.
type step struct {
	stage   job.Stage
	cases   []tasks.Case
	seed    *uint64
	timeout time.Duration
	want    []tasks.Case // cases that must be reported for a pass; none when the program decides
	timed   bool
}

// plan lists the steps of a job in their order; the first that does not pass ends it.
//
// A judge draws each input with a fresh seed that it keeps to itself and never reuses, so that a stage's output is not
// secret. The ranked stage measures like the benchmark stage, in more processes, so a ranked run has no benchmark stage. A
// bundle's own program is different: it goes through all three stages on public inputs, as its authors expect, and then
// again with the secret seed, only for a verdict.
func plan(j job.Job) []step {
	// It matters only to a task's own program: a judge draws its own seed for each input.
	public := harness.PublicSeed(j.Task)
	test := newStep(j, job.StageTest, public)
	benchmark := newStep(j, job.StageBenchmark, public)
	switch j.Mode {
	case job.ModeTest:
		return []step{test}
	case job.ModeBenchmark:
		return []step{benchmark}
	case job.ModeRanked:
		ranked := newStep(j, job.StageRanked, public)
		if j.Task.OwnHarness {
			return []step{test, benchmark, ranked}
		}
		return []step{test, ranked}
	default:
		return nil
	}
}

// secretPlan lists the steps of a bundle's secret pass, nil for jobs that have none.
func secretPlan(j job.Job) []step {
	if j.Mode != job.ModeRanked || !j.Task.OwnHarness {
		return nil
	}
	var steps []step
	for _, stage := range []job.Stage{job.StageTest, job.StageBenchmark, job.StageRanked} {
		s := newStep(j, stage, &j.SecretSeed)
		// Its times are not measured and not kept: a kernel could encode the secret seed in them.
		s.timed = false
		steps = append(steps, s)
	}
	return steps
}

func newStep(j job.Job, stage job.Stage, seed *uint64) step {
	s := step{
		stage: stage,
		cases: harness.StageCases(j.Task, stage),
		seed:  seed,
		timed: stage != job.StageTest,
	}
	if !j.Task.OwnHarness {
		s.want = s.cases
	}
	limits := map[job.Stage]time.Duration{
		job.StageTest:      j.Task.Timeouts.Test,
		job.StageBenchmark: j.Task.Timeouts.Benchmark,
		job.StageRanked:    j.Task.Timeouts.Ranked,
	}
	s.timeout = limits[stage]
	return s
}

// units is how many units of its device the task needs at the same time; a rejection when there
// are fewer.
func units(def tasks.Definition, have int) (int, error) {
	need := def.WorldSize()
	// On the CPU, and for one unit, 1 is always there: the job was given to a slot of this device.
	if need > have && def.MultiGPU {
		return 0, attempt.Reject("This task needs %d GPUs of one kind in one machine, and this one has %d: choose a device with more.", need, have)
	}
	return need, nil
}
