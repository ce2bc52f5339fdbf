package webtest

import (
	"context"
	"fmt"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// ComparedScene is a profiled scene with two runs that the judge timed in several processes, on machines with different
// drivers.
type ComparedScene struct {
	*ProfiledScene
	Slow, Fast work.Run
}

// NewComparedScene adds the two runs to a scene.
func NewComparedScene(profiled *ProfiledScene) *ComparedScene {
	s := &ComparedScene{ProfiledScene: profiled}
	lin := modelstest.Person(s.T, s.Cfg.Store, "Lin Chen", accounts.RoleUser)
	s.Slow = s.Judged(lin, GoodKernel, "570.86.15", "1980 MHz", "cuda4/1", 1, 1, 0.42)
	s.Fast = s.Judged(lin, SlowKernel, "580.12", "1200–1980 MHz, 1980 at the start, 1755 at the end", "tri/0", 0.428,
		1.001, 0.525)
	return s
}

// Path returns the path of the comparison of Slow and Fast.
func (s *ComparedScene) Path() string { return fmt.Sprintf("/compare?a=%d&b=%d", s.Slow.ID, s.Fast.ID) }

// judgedNS is a score in nanoseconds. With it and factor 1, the first case takes about as long, launch included, as its
// kernel in the report cuda4/1 (416.4 µs); with factor 0.428, as long as that of the report tri/0 (175.9 µs).
const judgedNS = 105.4e3

// Judged submits and ends a ranked run and its profile. The median of each case is its usual time times its factor, and
// comes from five processes.
func (s *ComparedScene) Judged(user accounts.User, source, driver, clock, report string, factors ...float64) work.Run {
	s.T.Helper()
	run := s.Submit(user, "H200", source)
	attempt := s.Attempt(run)
	cases := s.Repeated(judgedNS)
	for i := range cases {
		c := &cases[i]
		c.ClockTimes, c.Median, c.ProcessMedians = job.ClockTimes{CountedClock: job.ClockEvent}, c.Mean*factors[i], nil
		for k := range c.Times {
			c.Times[k] *= factors[i]
		}
		for k := range 5 {
			c.ProcessMedians = append(c.ProcessMedians, c.Median*(1+0.002*float64(k-2)))
		}
	}
	score, err := harness.Score("geom", cases)
	if err != nil {
		s.T.Fatal(err)
	}
	at := time.Now().UTC()
	result := job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
		Outcome:     job.OutcomePassed,
		HarnessName: "warpboard/cu",
		Stages: []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: at, EndedAt: at},
			{Stage: job.StageRanked, Status: job.StatusPass, StartedAt: at, EndedAt: at, Cases: cases}},
		Machine: job.Machine{Worker: "rack-7", Device: "H200", DeviceName: "NVIDIA H200", UUIDHash: "5f1c09d2ab34",
			Driver: driver,
			CUDA:   "12.8", CompilerVersion: "nvcc 12.8.93", SandboxName: "bubblewrap",
			GPUConditions: map[string]string{"sm_clock": clock}}}
	s.ProfilingWorker()
	if _, err := s.Cfg.Store.Work.RecordResult(context.Background(), result,
		work.ResultFindings{Score: &work.Score{NS: score}}); err != nil {
		s.T.Fatal(err)
	}
	s.Profile(run, report)
	return run
}
