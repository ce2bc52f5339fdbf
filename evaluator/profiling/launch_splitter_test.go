package profiling

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
)

// follow executes the comma-separated steps of a profiled process: "case 0" and "over 0" are reports of the judge that
// case 0 begins and ends, "2k" announces two kernel launches, "end" ends the judge's report; anything else is output.
func follow(c *launchSplitter, steps string) {
	for step := range strings.SplitSeq(steps, ",") {
		var n int
		switch {
		case scan(step, "case %d", &n):
			c.readJudgeReport(fmt.Appendf(nil, "benchmark.%d.spec: size: 1\n", n))
		case scan(step, "over %d", &n):
			c.readJudgeReport(fmt.Appendf(nil, "benchmark.%d.status: pass\n", n))
		case step == "end":
			c.readJudgeReport([]byte("check: pass\n"))
		case scan(step, "%dk", &n):
			for i := range n {
				for _, b := range fmt.Appendf(nil, "%sk\" - %d: 0%%....50%%....100%% - 40 passes\n",
					nsight.ProfilingLinePrefix, i) {
					c.readOutput([]byte{b}) // byte by byte, to test all boundaries
				}
			}
		default:
			c.readOutput([]byte(step))
		}
	}
}

func scan(step, format string, n *int) bool {
	got, err := fmt.Sscanf(step, format, n)
	return err == nil && got == 1
}

func TestKernelsAreCutIntoTheCasesThatLaunchedThem(t *testing.T) {
	three := "case 0,2k,over 0,case 1,1k,over 1,case 2,3k,over 2,end"
	for name, tt := range map[string]struct {
		cases   int
		steps   string
		kernels int // number of kernels in the report
		want    string
	}{
		"three cases":          {3, three, 6, "2 1 3"},
		"one launches nothing": {3, "case 0,2k,over 0,case 1,over 1,case 2,3k,over 2,end", 5, "2 0 3"},
		"lines between": {2,
			"hello ==PROF== Prof,case 0,==PROF== Connected,1k,over 0,case 1,x,1k,over 1,end", 2, "1 1"},
		"a crash in the second":             {3, "case 0,2k,over 0,case 1,1k", 3, "2"},
		"a crash in the first":              {3, "case 0,2k", 2, ""},
		"the program announces, too":        {3, strings.Replace(three, "1k", "2k", 1), 6, ""},
		"not all were announced":            {3, three, 7, ""},
		"announced when all is over":        {2, "case 0,over 0,case 1,over 1,end,4k", 4, ""},
		"no judge":                          {2, "4k", 4, ""},
		"the first takes all that there is": {2, "case 0,32k,over 0,case 1,over 1,end", 32, "16"},
		"the second is cut short":           {3, "case 0,40k,over 0,case 1,8k,over 1,case 2,over 2,end", 48, "16"},
		"each has all it may have":          {2, "case 0,16k,over 0,case 1,16k,over 1,end", 32, "16 16"},
		"the last has more":                 {2, "case 0,1k,over 0,case 1,31k,over 1,end", 32, "1 16"},
	} {
		c, report := newLaunchSplitter(tt.cases), &ncu.Report{Version: "1", Warnings: []string{"careful"}}
		follow(c, tt.steps)
		for i := range tt.kernels {
			report.Kernels = append(report.Kernels, ncu.Kernel{ID: 100 + i})
		}
		if finished := strings.HasSuffix(tt.steps, "end") ||
			strings.Contains(tt.steps, "end,"); c.judgeCompleted() != finished {
			t.Errorf("%s: finished is %v", name, !finished)
		}
		var got []string
		for i, part := range c.splitReport(report) {
			got = append(got, fmt.Sprint(len(part.Kernels)))
			if len(part.Warnings) != 1 || part.Version != "1" {
				t.Errorf("%s: the report of case %d is %+v", name, i, part)
			}
			for k, kernel := range part.Kernels {
				if kernel.ID != k {
					t.Errorf("%s: kernel %d of case %d has the number %d", name, k, i, kernel.ID)
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}
