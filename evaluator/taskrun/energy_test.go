package taskrun

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

func TestEnergyIsThatOfCallsThatTakeTheirTime(t *testing.T) {
	longest := job.CaseResult{Spec: "n: 9", Mean: 1000, Runs: 1}
	report := func(calls, begin, end string) map[string]string {
		return map[string]string{"benchmark.0.energy.calls": calls, "benchmark.0.energy.begin": begin, "benchmark.0.energy.end": end}
	}
	for name, tt := range map[string]struct {
		report map[string]string
		watts  float64 // 0: not known
		joules float64
		why    string
	}{
		"steady calls":                  {report("1000000", "5000000000", "5900000000"), 500, 500 * 900e-9, ""},
		"a counter that does not move":  {report("1000000", "5000000000", "6000000000"), 0, 0, "did not move"},
		"calls that find their input":   {report("1000000", "5000000000", "5790000000"), 500, 0, "Calls in a row took 790ns each, where one alone takes 1µs"},
		"a report of nothing":           {nil, 500, 0, "did not say"},
		"a report of nonsense":          {report("-3", "x", "9"), 500, 0, "did not say"},
		"calls that end as they begin":  {report("3", "9", "9"), 500, 0, "did not say"},
		"calls that end before they do": {report("3", "9", "8"), 500, 0, "did not say"},
	} {
		e := energyOf(tt.report, func(_, _ int64) (float64, bool) { return tt.watts, tt.watts > 0 }, longest)
		if diff := e.Joules - tt.joules; diff > 1e-12 || diff < -1e-12 || (e.Why == "") != (tt.why == "") || !strings.Contains(e.Why, tt.why) {
			t.Errorf("%s: %+v", name, *e)
		}
	}
}
