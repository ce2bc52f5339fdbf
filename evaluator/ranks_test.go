package evaluator_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/attacks"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// twoRanks returns a job for the corpus's task with two ranks.
func twoRanks(t *testing.T, id, submission string) job.Job {
	t.Helper()
	bundles, err := attacks.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	b := bundles[slices.IndexFunc(bundles, func(b *tasks.Bundle) bool { return b.Name == "waves_ranks" })]
	sources, err := b.ProgramFiles(tasks.Submission{Source: []byte(submission)})
	if err != nil {
		t.Fatal(err)
	}
	j := example(t, vectorAdd, id, job.ModeTest, solution(t, vectorAdd, true))
	j.TaskHash, j.Task, j.Sources = b.ContentHash(), b.Definition, sources
	return j
}

// allReduce lets ranks communicate like KernelBot's submissions: torch's process group exists already.
const allReduce = `
import numpy as np
import torch
import torch.distributed as dist


def custom_kernel(x):
    y = x
    for _ in range(4):
        y = np.sin(y) + 0.5 * y
    y = torch.from_numpy(y)
    dist.all_reduce(y)
    return y.numpy()
`

func TestATaskForSeveralGPUsHasARankOnEach(t *testing.T) {
	tier.Needs(t, tier.Torch)
	config := realConfig(t)
	config.Slots = append(config.Slots, config.Slots[0])
	s := newSite(t)
	s.start(config)
	r := s.run(twoRanks(t, "two ranks", allReduce))
	if len(r.Stages) > 1 && strings.Contains(r.Stages[1].Stderr, "No module named 'torch'") {
		sandboxtest.Without(t, "torch", errors.New(r.Stages[1].Stderr))
	}
	wantStages(t, r, "build pass", "test pass")
	if r.Outcome != job.OutcomePassed || r.HarnessName != "warpboard/py" {
		t.Fatalf("outcome %s, harness %q, failure %+v\n%s", r.Outcome, r.HarnessName, r.Failure,
			r.Stages[len(r.Stages)-1].Stderr)
	}
	r = s.run(twoRanks(t, "of its own type",
		strings.Replace(allReduce, "return y.numpy()", "return y.numpy() if dist.get_rank() == 0 else y.to_sparse()",
			1)))
	if r.Outcome != job.OutcomeFailed ||
		!strings.Contains(r.Failure.Reason, "rank 1: custom_kernel returned a torch.Tensor") {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
}
