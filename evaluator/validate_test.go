package evaluator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// validating returns a job in which a script tries a correct submission of a Python task.
func validating(t *testing.T, id, script string) job.Job {
	t.Helper()
	j := example(t, "softmax_numpy", id, job.ModeValidate, solution(t, "softmax_numpy", true))
	b := tasks.Bundle{Definition: j.Task, Files: map[string][]byte{"use.py": []byte(script)}}
	b.Definition.Validation = &tasks.ValidationScript{Version: "v1", Script: "use.py"}
	j.Task, j.Sources = b.WithValidationScript().Definition, maps.Clone(j.Sources)
	j.Sources["use.py"] = []byte(script)
	j.Task.Timeouts = tasks.Timeouts{Test: 3 * time.Second, Benchmark: 3 * time.Second, Ranked: 20 * time.Second}
	return j
}

// TestAValidationScriptAnswersWithItsLastLine also checks that other output becomes an error with a sentence.
func TestAValidationScriptAnswersWithItsLastLine(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfig(t))
	hang := validating(t, "hangs", "import time\ntime.sleep(1000)\n")
	hang.Task.Timeouts.Ranked = 3 * time.Second
	for _, c := range []struct {
		job            job.Job
		status         job.Status
		message, inLog string
	}{
		{validating(t, "applies",
			"import numpy as np\nfrom submission import custom_kernel\nx = np.ones((4, 8), np.float32)\n"+
				"y = custom_kernel((x, np.empty_like(x)))\nprint('tries')\nprint(f'applies: rows sum to {y.sum(axis=1).round(3).tolist()}')\n"), job.StatusPass, "rows sum to [1.0, 1.0, 1.0, 1.0]", "tries"},
		{validating(t, "bare", "print('applies')\n"), job.StatusPass, "", ""},
		{validating(t, "not", "print('does not apply: 3 of 8 shapes')\nprint()\n"), job.StatusFail, "3 of 8 shapes",
			""},
		{hang, job.StatusTimeout, "The script reached its time limit of 3 s.", ""},
		{validating(t, "garbage", "import os\nos.write(1, bytes(range(256)) * 100)\n"), job.StatusError,
			"The script gave no answer: the last line", ""},
		{validating(t, "near", "print('applies not')\n"), job.StatusError, "The script gave no answer", ""},
		{validating(t, "silent", ""), job.StatusError, "The script gave no answer", ""},
		{validating(t, "raises", "raise ValueError('no such shape')\n"), job.StatusError,
			"The script ended with exit code 1. ValueError: no such shape", ""},
		{validating(t, "exits", "import sys\nprint('applies')\nsys.exit(7)\n"), job.StatusError,
			"The script ended with exit code 7.", ""},
		{validating(t, "crashes", "import os\nos.kill(os.getpid(), 11)\n"), job.StatusError,
			"The script was killed by SIGSEGV.", ""},
		{validating(t, "prints a lot", "for _ in range(1024): print('x' * (1 << 20))\nprint('applies')\n"),
			job.StatusLimitExceeded, "The script hit its output limit.", ""},
		{validating(t, "writes a lot",
			"with open('/out/f', 'wb') as f:\n  for _ in range(1024): f.write(bytes(1 << 20))\nprint('applies')\n"),
			job.StatusError, "The script ended with exit code 1. OSError: [Errno 27] File too large", ""},
	} {
		t.Run(c.job.AttemptID, func(t *testing.T) {
			r := s.run(c.job)
			i := slices.IndexFunc(r.Stages,
				func(stage job.StageResult) bool { return stage.Stage == job.StageValidate })
			if i < 0 {
				t.Fatalf("stages %q, failure %+v", stageNames(r), r.Failure)
			}
			stage := r.Stages[i]
			if got := stage.Cases[0]; stage.Status != c.status || got.Status != c.status || got.SpecLine != "use.py" ||
				!strings.HasPrefix(got.Message, c.message) {
				t.Errorf("it ends as %s: %+v, %+v", stage.Status, got, stage.Failure)
			}
			if !strings.Contains(stage.Stdout, c.inLog) ||
				(r.Outcome == job.OutcomePassed) != (c.status == job.StatusPass) ||
				r.Failure != nil && r.Failure.IsInfrastructureError {
				t.Errorf("outcome %s, failure %+v, output %q", r.Outcome, r.Failure, stage.Stdout)
			}
		})
	}
}
