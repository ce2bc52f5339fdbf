package views

import (
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/views/format"
)

// evaluationStates are the states of an evaluation until its end, in order. Stages have the same names.
var evaluationStates = []string{"submitted", "compiling", "validating", "profiling"}

// evaluationStateTexts are texts for states, stages, and methods whose names in the API could mislead people.
var evaluationStateTexts = map[string]string{
	"submitted": "Waiting", "compiling": "Compiling", "validating": "Checking", "profiling": "Timing",
	string(work.EvaluationCompleted): "Completed", string(work.EvaluationFailed): "Failed", string(work.EvaluationTimeout): "Timed out",
	string(work.EvaluationCancelled): "Cancelled",
	"wall_clock":                     "the judge's clock", "events": "events on the GPU", "cuda_graph": "CUDA graphs",
}

func evaluationStateText(name string) string {
	if word, ok := evaluationStateTexts[name]; ok {
		return word
	}
	return name
}

// timingClockText names the process whose clock measured the times (the judge, the runner, or the kernel's own
// process), and mentions the clock of the kernel's process if its times are implausible.
func timingClockText(r kernelrun.Result) string {
	c, judged := r.ClockTimes["custom"]
	switch {
	case r.RuntimeStats == nil:
		return ""
	case !judged:
		return "the kernel's own process, which can falsify it. No judge timed this"
	case c.CountedClock == string(job.ClockEvent):
		return "the runner's, confirmed by the judge's"
	}
	text := fmt.Sprintf("the judge's, ± %s", format.Nanoseconds(c.Tolerance*1e6))
	if c.CountedClock == string(job.ClockSnapshot) {
		text = "the judge's, until it had the answer" + text[len("the judge's"):]
	}
	if c.WallTime-c.EventTime > c.Tolerance {
		text += fmt.Sprintf("; the kernel's own process reported %s", format.Nanoseconds(c.EventTime*1e6))
	}
	return text
}

// setupTimeText returns the time of the setup function of a kernel; "" if there is none.
func setupTimeText(ns float64) string {
	if ns == 0 {
		return ""
	}
	return fmt.Sprintf("took %s, not counted", format.Nanoseconds(ns))
}

// baselineText compares the kernel with a baseline.
func baselineText(b kernelrun.BaselineComparison) string {
	if b.Speedup == nil {
		return b.Error
	}
	text := speedup(*b.Speedup, b.SpeedupInterval)
	if len(b.SpeedupInterval) == 2 {
		text += fmt.Sprintf(" (between %s and %s)", format.SpeedFactor(b.SpeedupInterval[0]), format.SpeedFactor(b.SpeedupInterval[1]))
	}
	return text
}
