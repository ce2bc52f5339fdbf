package evaluator_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// drawn returns a job for the built-in vector addition, with sizes that are drawn for each board and that are secret.
func drawn(t *testing.T, id string, mode job.Mode, submission string) job.Job {
	t.Helper()
	j := example(t, vectorAdd, id, mode, []byte(submission))
	declare := func(size string) tasks.Case {
		return tasks.Case{{Name: "size", Value: size}, {Name: "seed", Value: "1"}}
	}
	j.DeclaredCases = &job.TaskCases{
		Tests:      []tasks.Case{declare("127"), declare("uniform 34500..34599")},
		Benchmarks: []tasks.Case{declare("uniform 34500..34599"), declare("uniform 34500..34599 step 2")},
	}
	j.Task.Tests = []tasks.Case{declare("127"), declare(secretSize)}
	j.Task.Benchmarks = []tasks.Case{declare(secretSize), declare("34566")}
	return j
}

const secretSize = "34567"

// number returns an expression that matches digits as a whole number, but not as a part of a measured time: the times
// of a run have thousands of digits, and by chance contain a given sequence of five in about one of thirty runs.
func number(digits string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9.])` + digits + `(?:[^0-9]|$)`)
}

// talks returns a kernel that prints its size in every possible way, and then executes the code in end.
func talks(end string) string {
	return `#include <cstdio>
#include <cstdlib>
#include <utility>
#include "task.h"
output_t custom_kernel(input_t data) {
    std::printf("size %zu\n", data.a.size());
    std::fprintf(stderr, "size %zu\n", data.a.size());
    std::fflush(stdout);
    for (std::size_t i = 0; i < data.out.size(); ++i) data.out[i] = data.a[i] + data.b[i];
    if (data.a.size() != 127) { ` + end + ` }
    return std::move(data.out);
}
`
}

func TestNoPartOfARunRevealsSecretValues(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	for name, tt := range map[string]struct {
		end     string // last statement of the kernel
		outcome job.Outcome
		want    string // expected text of the failure
	}{
		"right": {"", job.OutcomePassed, ""},
		"wrong": {"data.out[data.out.size() - 1] = data.out.size();", job.OutcomeFailed,
			"In case 1 (size: uniform 34500..34599; seed: 1) the answer is wrong."},
		"too short": {"data.out.resize(data.out.size() - 1);", job.OutcomeFailed,
			"In case 1 (size: uniform 34500..34599; seed: 1) the answer is wrong."},
		"exit": {"std::exit(data.out.size() % 200);", job.OutcomeFailed,
			"In case 1 (size: uniform 34500..34599; seed: 1): It failed."},
		"abort": {"std::abort();", job.OutcomeFailed,
			"In case 1 (size: uniform 34500..34599; seed: 1): It was killed by SIGABRT."},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(drawn(t, name, job.ModeRanked, talks(tt.end)))
			if r.Outcome != tt.outcome || (r.Failure == nil) != (tt.want == "") ||
				r.Failure != nil && !strings.HasPrefix(r.Failure.Reason, tt.want) {
				t.Fatalf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			s.wait("end of the last stage", func() bool {
				return slices.ContainsFunc(s.events, ended(name, r.Stages[len(r.Stages)-1].Stage))
			})
			data, err := json.Marshal([]any{r, s.eventsOf(name)})
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{secretSize, "34566", "34568"} {
				if at := number(secret).FindIndex(data); at != nil {
					t.Errorf("%s is told: … %s", secret, data[max(0, at[0]-200):min(at[1]+50, len(data))])
				}
			}
			if !strings.Contains(r.Stages[1].Stdout, "not shown") {
				t.Errorf("stdout is %q", r.Stages[1].Stdout)
			}
			if tt.outcome == job.OutcomePassed &&
				(r.Stages[2].Cases[1].SpecLine != "size: uniform 34500..34599 step 2; seed: 1" || r.ScoreNS == nil) {
				t.Errorf("score %v of %+v", r.ScoreNS, r.Stages[2].Cases)
			}
		})
	}
	open := drawn(t, "open", job.ModeTest, talks(""))
	open.DeclaredCases = nil
	if r := s.run(open); !strings.Contains(r.Stages[1].Stdout, "size "+secretSize) ||
		!strings.Contains(r.Stages[1].Cases[1].SpecLine, secretSize) {
		t.Errorf("a run without secrets hides: %+v", r.Stages)
	}
}
