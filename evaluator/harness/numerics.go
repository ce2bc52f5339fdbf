package harness

import (
	"math"
	"strconv"

	"warpboard/evaluator/job"
)

// setNumericError stores one field of the numerical error of a test case. It returns false for an unknown field. It
// replaces the whole struct, because receivers of the case may have a pointer to the previous struct.
func setNumericError(c *job.CaseResult, field, value string) bool {
	n := job.NumericError{}
	if c.NumericError != nil {
		n = *c.NumericError
	}
	texts := map[string]*string{"worst": &n.WorstPosition, "got": &n.Got, "want": &n.Want, "note": &n.Note}
	errors := map[string]*float64{"relative_max": &n.RelativeMax, "relative_p99": &n.RelativeP99, "ulp_max": &n.ULPMax, "ulp_p99": &n.ULPP99}
	counts := map[string]*int{"elements": &n.Elements, "unlike": &n.NonFinite}
	switch {
	case texts[field] != nil:
		*texts[field] = value
	case errors[field] != nil:
		*errors[field] = parseNumber(value, isValidError)
	case counts[field] != nil:
		count, _ := strconv.Atoi(value)
		*counts[field] = max(count, 0)
	default:
		return false
	}
	c.NumericError = &n
	return true
}

// isValidError reports whether off is a possible distance between two numbers.
func isValidError(off float64) bool { return off >= 0 && off <= math.MaxFloat64 }
