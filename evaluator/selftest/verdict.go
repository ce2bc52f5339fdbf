package selftest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
)

// maxOutput limits the output of a compiler in an error, in bytes.
const maxOutput = 400

// Error returns nil if the program compiled, ran, and gave the right answer, and if the judge's and the runner's clock
// agree on its time. Otherwise it returns a sentence with the problem and advice.
func (p Program) Error(result job.Result, err error) error {
	switch {
	// The task's judge has checked the answer; the clocks remain to be checked.
	case result.Outcome == job.OutcomePassed:
		err = clocks(result)
	case result.Failure != nil:
		err = fmt.Errorf("a small known program failed%s: %s", stageOf(result), attempt.ShortenMiddle(oneLine(failureText(result)), maxOutput))
	case err == nil:
		err = fmt.Errorf("a small known program ended with %q", result.Outcome)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s. %s", p.Name, strings.TrimSuffix(err.Error(), "."), p.fix)
}

// failureText returns the reason of a failure and the compiler's output.
func failureText(result job.Result) string {
	text := result.Failure.Reason
	if n := len(result.Stages); n > 0 {
		if last := result.Stages[n-1]; last.Status != job.StatusPass && strings.TrimSpace(last.Stderr) != "" {
			text += " " + last.Stderr
		}
	}
	return text
}

func stageOf(result job.Result) string {
	if n := len(result.Stages); n > 0 {
		return fmt.Sprintf(" in its %s stage", result.Stages[n-1].Stage)
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// The runner's time cannot exceed the judge's, except for errors of the clocks. The judge's may be much longer, because
// processes compete on a busy machine. A wrong unit (milliseconds for seconds) causes a far larger difference.
const (
	runnerRatio   = 1.5
	runnerSlackNS = float64(time.Millisecond)
	judgeRatio    = 50
	judgeSlackNS  = float64(200 * time.Millisecond)
)

// clocks returns an error if the runner's clock and the judge's disagree.
func clocks(result job.Result) error {
	for _, stage := range result.Stages {
		for _, c := range stage.Cases {
			// Late calls synchronize with the device, so the runner's clock has no meaning.
			if !c.TimedByJudge() || c.ClockTimes.LateCalls > 0 {
				continue
			}
			runner, judge := c.ClockTimes.EventTime, c.ClockTimes.WallTime
			if runner > runnerRatio*judge+runnerSlackNS+c.ClockTimes.WallTolerance || judge > judgeRatio*runner+judgeSlackNS {
				return fmt.Errorf("the clocks of judge and runner disagree: a call took %s by one and %s by the other, "+
					"so no time measured here can be trusted. Restart the machine, and see that nothing else uses it",
					time.Duration(judge), time.Duration(runner))
			}
		}
	}
	return nil
}

// ProfileError returns nil if the profiler measured at least half of the counters of the program's kernel. tool is the
// ncu that profiled it.
func (p Program) ProfileError(tool nsight.Tool, result job.Result, err error) error {
	name := "Nsight Compute " + tool.Version
	switch {
	case result.Outcome != job.OutcomePassed && result.Failure != nil:
		return fmt.Errorf("%s does not profile a small known kernel: %s", name, attempt.ShortenMiddle(oneLine(failureText(result)), maxOutput))
	case err != nil:
		return fmt.Errorf("%s does not profile a small known kernel: %w", name, err)
	}
	report, err := reportOf(result)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	counted, all := counters(report)
	// Half suffices, because some counters exist only on other architectures, and ncu silently omits them.
	if 2*counted < all || counted == 0 {
		return fmt.Errorf("%s (%s) has no value for %d of %d counters of a small known kernel, so this version does not fit the GPU "+
			"and its driver. Install another and name it with --ncu PATH", name, tool.ProgramPath, all-counted, all)
	}
	return nil
}

func reportOf(result job.Result) (report ncu.Report, err error) {
	for _, artifact := range result.Artifacts {
		if artifact.Name != "profile.0.json.gz" {
			continue
		}
		unpack, err := gzip.NewReader(bytes.NewReader(artifact.Data))
		if err != nil {
			return report, fmt.Errorf("read the profile of a small known kernel: %w", err)
		}
		text, err := io.ReadAll(unpack)
		if err == nil {
			err = json.Unmarshal(text, &report)
		}
		if err != nil {
			return report, fmt.Errorf("read the profile of a small known kernel: %w", err)
		}
		return report, nil
	}
	return report, errors.New("the profile of a small known kernel has no report")
}

// counters returns the number of hardware metrics in the report that have a value, and of all of them. It ignores
// launch metrics, which always have a value.
func counters(report ncu.Report) (counted, all int) {
	for _, kernel := range report.Kernels {
		for name, metric := range kernel.Metrics {
			slot, _, is := strings.Cut(name, "__")
			switch slot {
			case "sm", "smsp", "l1tex", "lts", "dram", "gpc", "idc":
			default:
				is = false
			}
			if !is {
				continue
			}
			all++
			if metric.Measured {
				counted++
			}
		}
	}
	return counted, all
}
