package profiling

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
)

// launchSplitter assigns the kernels of one report to cases. ncu prints a line when it starts to profile a launch, and
// the program waits in that launch until it is profiled, a tenth of a second or more. The judge reports the end of a
// case. Before anything else is profiled, it generates the inputs of the next case and makes a call outside NVTXRange.
// So the order of the two streams is known, although different goroutines read them.
//
// The program can imitate ncu's output. Then the number of launches differs from the report's, and the cases are
// profiled one by one, so that no case shows the kernels of another. Profiles have no score.
type launchSplitter struct {
	cases int

	mu                sync.Mutex
	judgeReport       *harness.Parser
	completedCases    int            // number of cases that the judge completed
	wrongAnswers      map[int]string // checker's messages of wrong answers, by case
	outputTail        []byte         // end of the output, which may be a partial announcement
	completedAtLaunch []int          // for each announced launch, the number of completed cases
	startedAt         time.Time
	untilFirstLaunch  time.Duration // time until the first announcement; 0 if there is none
	untilLastLaunch   time.Duration // time until the last announcement
}

func newLaunchSplitter(cases int) *launchSplitter {
	c := &launchSplitter{cases: cases, wrongAnswers: map[int]string{}, startedAt: time.Now()}
	c.judgeReport = harness.NewParser(func(one job.CaseResult, _ int) {
		c.completedCases = max(c.completedCases, one.Index+1)
		if one.Status == job.StatusFail {
			first, _, _ := strings.Cut(one.Message, "\n")
			c.wrongAnswers[one.Index] = cmp.Or(first, "The checker gave no reason.")
		}
	})
	return c
}

// readJudgeReport reads the next piece of the judge's report.
func (c *launchSplitter) readJudgeReport(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.judgeReport.Write(b) // cannot fail: the writer is a parser in memory
}

// readOutput reads the next piece of the output of ncu and the program.
func (c *launchSplitter) readOutput(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := append(c.outputTail, b...)
	for range bytes.Count(text, []byte(nsight.ProfilingLinePrefix)) {
		c.completedAtLaunch = append(c.completedAtLaunch, c.completedCases)
		c.untilLastLaunch = time.Since(c.startedAt)
		c.untilFirstLaunch = cmp.Or(c.untilFirstLaunch, c.untilLastLaunch)
	}
	if i := bytes.LastIndex(text, []byte(nsight.ProfilingLinePrefix)); i >= 0 {
		text = text[i+1:]
	}
	c.outputTail = bytes.Clone(text[max(0, len(text)-len(nsight.ProfilingLinePrefix)+1):])
}

// judgeCompleted reports whether the judge, which must have ended, completed all cases.
func (c *launchSplitter) judgeCompleted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judgeReport.Close()
	return c.completedCases >= c.cases
}

// reasonWithoutProfile returns the reason why a case has no profile: its wrong answer if there was one, otherwise why.
// A program can detect the profiler and then compute nothing.
func (c *launchSplitter) reasonWithoutProfile(index int, why string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if message := c.wrongAnswers[index]; message != "" {
		return "The answer was wrong under the profiler: " + job.ShortenText(message, 500)
	}
	return why
}

// String describes the number of announced launches and completed cases.
func (c *launchSplitter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d launches announced, %d of %d cases judged", len(c.completedAtLaunch), c.completedCases,
		c.cases)
}

// launchTimesText describes the times of the launches.
func (c *launchSplitter) launchTimesText() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("the first kernel after %.1f s, the last after %.1f s", c.untilFirstLaunch.Seconds(), c.untilLastLaunch.Seconds())
}

// splitReport returns the reports of the first complete cases, or none if the launches do not match the report. A case
// without kernels has an empty report.
func (c *launchSplitter) splitReport(report *ncu.Report) []*ncu.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := make([]*ncu.Report, c.cases)
	for i := range parts {
		parts[i] = &ncu.Report{
			Version:  report.Version,
			Warnings: slices.Clone(report.Warnings),
			Kernels:  []ncu.Kernel{},
		}
	}
	if len(c.completedAtLaunch) != len(report.Kernels) {
		return nil
	}
	last := 0
	for i, kernel := range report.Kernels {
		if last = c.completedAtLaunch[i]; last >= c.cases {
			return nil // a launch was announced after the last case
		}
		if of := parts[last]; len(of.Kernels) < nsight.DefaultMaxLaunches {
			kernel.ID = len(of.Kernels)
			of.Kernels = append(of.Kernels, kernel)
		}
	}
	whole := min(c.completedCases, c.cases)
	// The limit of kernels was reached, so the last case may be incomplete.
	if len(report.Kernels) >= c.cases*nsight.DefaultMaxLaunches {
		whole = min(whole, last)
		if len(parts[last].Kernels) == nsight.DefaultMaxLaunches {
			whole = min(c.completedCases, last+1)
		}
	}
	return parts[:whole]
}
