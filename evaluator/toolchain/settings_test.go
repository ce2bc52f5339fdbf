package toolchain

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
)

// settings prints the settings of the sandbox's first process that a stage can change, and changes them if requested.
const settings = `
import os, resource
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    print("limits", [resource.prlimit(1, kind) for kind in range(16)], os.getpriority(os.PRIO_PROCESS, 1), os.sched_getaffinity(1), file=pipe)
resource.prlimit(1, resource.RLIMIT_NOFILE, (77, 77))
os.setpriority(os.PRIO_PROCESS, 1, min(os.getpriority(os.PRIO_PROCESS, 1) + 1, 19)) # tests may run under nice
`

// TestTheSandboxesFirstProcessPassesOnNoMessage checks that a Python is not used again after a stage has changed
// settings of its sandbox's first process.
func TestTheSandboxesFirstProcessPassesOnNoMessage(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(settings))
	p := mustOpen(t, b, a)
	var output [2]string
	for stage := range output {
		out, err := p.RunStage(t.Context(),
			StageRequest{Mode: string(job.ModeTest), Timeout: time.Minute,
				OnResultPipe: func(b []byte) { output[stage] += string(b) }})
		if err != nil || out.ExitCode != 0 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if output[0] == "" || output[1] != output[0] {
		t.Errorf("the next stage found %q, the first %q", output[1], output[0])
	}
}
