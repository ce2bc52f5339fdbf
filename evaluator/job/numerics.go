package job

// NumericError is the error of a test case's answer against the task's reference in double precision. It does not
// affect the verdict. The judge computes it; the submission's process cannot change it.
type NumericError struct {
	Elements      int     `json:"elements" jsonschema:"floating-point numbers that were compared"`
	RelativeMax   float64 `json:"relative_max" jsonschema:"largest distance over the reference's size; below the smallest normal number of the answer's type, over that"`
	RelativeP99   float64 `json:"relative_p99" jsonschema:"the 99th percentile"`
	ULPMax        float64 `json:"ulp_max" jsonschema:"largest distance in units of the last place of the answer's type; rounding makes at most 0.5"`
	ULPP99        float64 `json:"ulp_p99"`
	WorstPosition string  `json:"worst,omitempty" jsonschema:"where the largest error in ULPs is"`
	Got           string  `json:"got,omitempty" jsonschema:"the answer's value"`
	Want          string  `json:"want,omitempty" jsonschema:"the reference's value"`
	NonFinite     int     `json:"unlike,omitempty" jsonschema:"elements of which answer or reference is not finite, and the other is not the same; no error counts them"`
	Note          string  `json:"note,omitempty" jsonschema:"why nothing was compared"`
}

// WorstNumericError returns the largest of each error over several cases. It returns nil if nothing was compared, or if
// elements differ in kind (NaN, infinity), for which there is no number.
func WorstNumericError(cases []CaseResult) *NumericError {
	var worst *NumericError
	for _, c := range cases {
		n := c.NumericError
		if n == nil {
			continue
		}
		if n.Elements == 0 || n.NonFinite > 0 {
			return nil
		}
		if worst == nil {
			worst = &NumericError{}
		}
		worst.Elements += n.Elements
		worst.RelativeMax, worst.RelativeP99 = max(worst.RelativeMax, n.RelativeMax), max(worst.RelativeP99, n.RelativeP99)
		worst.ULPMax, worst.ULPP99 = max(worst.ULPMax, n.ULPMax), max(worst.ULPP99, n.ULPP99)
	}
	return worst
}
