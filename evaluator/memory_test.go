package evaluator_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/job"
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
