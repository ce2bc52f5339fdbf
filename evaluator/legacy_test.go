package evaluator_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

const legacyReference = `#include <cmath>
#include <vector>
using input_t = std::vector<float>;
using output_t = std::vector<float>;
input_t generate_input() {
    input_t data(512);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    return data;
}
output_t ref_kernel(input_t data) {
    for (float& x : data) x = std::sqrt(x);
    return data;
}
bool check_implementation(output_t custom, output_t ref) { return custom == ref; }
`

func TestOneReferenceFileIsATask(t *testing.T) {
	tier.Needs(t, tier.Judge)
	bundle, err := tasks.TaskFromReference("roots.cpp", []byte(legacyReference), []string{"CPU"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.start(realConfig(t))
	const right = "output_t custom_kernel(input_t data) { for (float& x : data) x = std::sqrt(x); return data; }\n"
	r := s.run(jobOf(t, bundle, "right", job.ModeRanked, right))
	wantStages(t, r, "build pass", "test pass", "ranked pass")
	if r.Outcome != job.OutcomePassed || r.ScoreNS == nil || *r.ScoreNS <= 0 || r.HarnessName != "legacy" {
		t.Fatalf("outcome %s, score %v, harness %q, failure %+v", r.Outcome, r.ScoreNS, r.HarnessName, r.Failure)
	}
	ranked := r.Stages[2]
	if len(ranked.Cases) != 1 || ranked.Cases[0].Runs != 2*100 { // 100 calls in each of two fresh processes
		t.Errorf("cases %+v", ranked.Cases)
	}

	r = s.run(jobOf(t, bundle, "wrong", job.ModeRanked, "output_t custom_kernel(input_t data) { return data; }\n"))
	wantStages(t, r, "build pass", "test fail")
	if r.Outcome != job.OutcomeFailed || r.ScoreNS != nil ||
		!strings.Contains(r.Failure.Reason, "check_implementation failed") {
		t.Errorf("outcome %s, score %v, failure %+v", r.Outcome, r.ScoreNS, r.Failure)
	}

	r = s.run(jobOf(t, bundle, "broken", job.ModeRanked, "output_t custom_kernel(input_t data) { return nothing; }\n"))
	wantStages(t, r, "build error")
	if r.Outcome != job.OutcomeFailed || !strings.Contains(r.Stages[0].Stderr, "train.cuh:1:") {
		t.Errorf("outcome %s, the compiler said %q", r.Outcome, r.Stages[0].Stderr)
	}
}
