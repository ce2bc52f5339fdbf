package format

import "fmt"

// minRelativeDifference is the smallest relative difference of two scores that counts, as on boards.
const minRelativeDifference = 0.005

// ScoreChange formats a change of score: "2.1 % faster (1.8 to 2.4 %)", from its ratio to the previous score and the
// interval of that ratio. A difference within the interval counts as none.
func ScoreChange(ratio, low, high float64) string {
	low, high = min(low, ratio), max(high, ratio)
	switch {
	case !(ratio > 0):
		return ""
	case low <= 1 && high >= 1 || ratio > 1-minRelativeDifference && ratio < 1+minRelativeDifference:
		return "no clear difference"
	case ratio < 1:
		return fmt.Sprintf("%.1f\u00a0%% faster (%.1f to %.1f\u00a0%%)", 100*(1-ratio), 100*(1-high), 100*(1-low))
	}
	return fmt.Sprintf("%.1f\u00a0%% slower (%.1f to %.1f\u00a0%%)", 100*(ratio-1), 100*(low-1), 100*(high-1))
}

// MeanChange formats the mean of several ratios of scores, without an interval: "1.2 % slower".
func MeanChange(ratio float64) string {
	switch {
	case ratio > 1-minRelativeDifference && ratio < 1+minRelativeDifference:
		return "within 0.5\u00a0%"
	case ratio < 1:
		return fmt.Sprintf("%.1f\u00a0%% faster", 100*(1-ratio))
	}
	return fmt.Sprintf("%.1f\u00a0%% slower", 100*(ratio-1))
}
