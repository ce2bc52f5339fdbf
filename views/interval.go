package views

import (
	"fmt"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// intervalText formats half of the confidence interval of a score, relative to the score.
func intervalText(i boards.Interval, score float64) string {
	if i.LowNS == nil || i.HighNS == nil {
		return format.NotMeasured
	}
	return format.RelativeError(score, (*i.HighNS-*i.LowNS)/2)
}

// intervalTitle explains the interval of a score from a number of runs; 0 counts as one run.
func intervalTitle(i boards.Interval, runs int) string {
	switch {
	case i.Processes == 0:
		return noIntervalHint
	case i.LowNS == nil || i.HighNS == nil:
		return "Measured in a single process, so there is no interval"
	}
	of := ""
	if runs > 0 {
		of = " of " + format.Plural(runs, "run", "runs")
	}
	return fmt.Sprintf("95 %% interval from %d fresh processes%s", i.Processes, of)
}

// intervalEnds formats both ends of an interval. Boards show no ends, because their bars show the interval and a page
// has fifty rows.
func intervalEnds(i boards.Interval) string {
	if i.LowNS == nil || i.HighNS == nil {
		return ""
	}
	return fmt.Sprintf(": %s to %s", format.Nanoseconds(*i.LowNS), format.Nanoseconds(*i.HighNS))
}

// isWideInterval returns the ends of an interval that is wider than ± 100 %, which intervalText abbreviates; "" for
// others.
func isWideInterval(i boards.Interval, score float64) string {
	if i.LowNS == nil || i.HighNS == nil || *i.HighNS-*i.LowNS <= 2*score {
		return ""
	}
	return ", wider than ± 100\u00a0%" + intervalEnds(i)
}

// noIntervalHint explains why a score without several processes has no interval.
const noIntervalHint = "No interval: an old version of the site or the task's own program measured it"

const noisyHint = "The fresh processes differ too much for a ± 0.5 % interval. Another run may score differently, and does not count against any limit"
