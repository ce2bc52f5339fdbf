package evaluator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

func TestATaskLimitsTheMemoryOfItsSubmissions(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfig(t))
	greedy := `#include <cstring>
#include <utility>
#include <vector>
#include "task.h"
output_t custom_kernel(input_t data) {
    std::vector<char> more(300u << 20);
    std::memset(more.data(), 1, more.size());
    for (std::size_t i = 0; i < data.out.size(); ++i) data.out[i] = data.a[i] + data.b[i] + (more[i] - 1);
    return std::move(data.out);
}
`
	python := "import numpy as np\ndef custom_kernel(data):\n    more = np.ones(400 << 20, dtype=np.uint8)\n    x, out = data\n" +
		"    e = np.exp(x - x.max(axis=1, keepdims=True))\n    out[...] = e / e.sum(axis=1, keepdims=True)\n    return out\n"
	for limit, want := range map[int64]job.Outcome{0: job.OutcomePassed, 1 << 30: job.OutcomePassed,
		200 << 20: job.OutcomeFailed} {
		for name, source := range map[string]string{vectorAdd: greedy, "softmax_numpy": python} {
			j := example(t, name, fmt.Sprint(name, limit), job.ModeTest, []byte(source))
			j.Task.MemoryLimit = limit
			r := s.run(j)
			if r.Outcome != want || want == job.OutcomeFailed &&
				(r.Failure.Limit != "memory" || !strings.Contains(r.Failure.Reason, "hit its memory limit")) {
				t.Errorf("%s with a limit of %d: %s, %+v", name, limit, r.Outcome, r.Failure)
			}
		}
	}
}

// TestAKernelThatTakesTheReferencesMemoryFails has a reference that lacks memory beside the kernel, and works alone or
// has no time left for that. stages has one report for each stage.
func TestAKernelThatTakesTheReferencesMemoryFails(t *testing.T) {
	const (
		right = `{"report": {"compiled": true, "correctness": true, "runtime_stats": {"median": 1}, "ref_runtime": {"median": 3}, "speedup": 3}}`
		lacks = `{"report": {"compiled": true, "fault": "reference", "validation_error": "torch.OutOfMemoryError: CUDA out of memory."}}`
		alone = `{"report": {"ref_runtime": {"median": 3}}}`
		fails = `{"report": {"fault": "reference"}}`
	)
	for name, tt := range map[string]struct {
		stages    []string
		baselines []string
		late      bool
		fault     string
		correct   bool
	}{
		"works alone":               {stages: []string{lacks, alone}},
		"fails alone":               {stages: []string{lacks, fails}, fault: kernelrun.FaultReference},
		"no time to run it alone":   {stages: []string{lacks, fails}, late: true},
		"as a baseline works alone": {stages: []string{right, lacks, alone}, baselines: []string{"eager", "torch.compile"}},
		"as a baseline fails alone": {stages: []string{right, lacks, fails}, baselines: []string{"eager", "torch.compile"}, correct: true},
	} {
		t.Run(name, func(t *testing.T) {
			count := 0
			builder := fakeBuilder{judged: true, run: func(_ context.Context, st fakeStage) (out sandbox.Outcome, _ error) {
				st.OnResultPipe([]byte(`{"stage": "validating"}` + "\n" + tt.stages[count] + "\n" + `{"done": true}` + "\n"))
				if count++; tt.late && count == len(tt.stages) {
					out.ExceededLimit = "wall"
				}
				return out, nil
			}}
			s := newSite(t)
			cfg := evaluator.Config{Builder: builder, Slots: []device.Slot{gpu(0)}}
			cfg.Toolchain.Python = &toolchain.Python{Packages: map[string]string{"torch": "2"}}
			s.start(cfg)
			body := map[string]any{"ref_kernel": torch(torchModelSource("return x") + "def get_inputs(): pass"), "custom_kernel": torch("y = 1")}
			if tt.baselines != nil {
				body["baselines"] = tt.baselines
			}
			j := evaluationJob(t, ask(t, kernelrun.KindCompare, body))
			j.Device, j.Caller = "H200", "token:1"
			var got kernelrun.Result
			if err := json.Unmarshal(s.run(j).Evaluation, &got); err != nil {
				t.Fatal(err)
			}
			if count != len(tt.stages) || got.Correctness != tt.correct || got.Fault != tt.fault {
				t.Errorf("%d stages, correct: %v, fault %q, %s", count, got.Correctness, got.Fault, got.ValidationError)
			}
		})
	}
}
