package tasks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// Range is a range of values that takes the place of a fixed value in task.yml: "uniform 1000..5000 step 8", or "choice
// 64|128|256".
type Range struct {
	lowest, step int64
	valueCount   uint64   // number of values, starting at lowest
	choiceTexts  []string // values of a choice, as Python prints them; nil for a range of numbers
}

var (
	rangeKeywordPattern = regexp.MustCompile(`^(uniform|choice)\s`)
	uniformRangePattern = regexp.MustCompile(`^uniform\s+([-+]?\d+)\s*\.\.\s*([-+]?\d+)(?:\s+step\s+([-+]?\d+))?$`)
)

// isRange reports whether a value looks like a range, valid or not.
func isRange(text string) bool { return rangeKeywordPattern.MatchString(text) }

// Limits of a range: its length in bytes, and its number of choices. They limit the number of cases for cornerCases.
const maxRangeText, maxRangeChoices = 1000, 64

// ParseRange parses a range. Its errors are written for the author of a task.
func ParseRange(text string) (Range, error) {
	if len(text) > maxRangeText {
		return Range{}, fmt.Errorf("a range has at most %d characters", maxRangeText)
	}
	if rest, ok := strings.CutPrefix(text, "choice"); ok && isRange(text) {
		return parseChoices(rest)
	}
	found := uniformRangePattern.FindStringSubmatch(text)
	if found == nil {
		return Range{}, fmt.Errorf("%q is not a range: write uniform 1000..5000, uniform 1000..5000 step 8, or choice 64|128|256", text)
	}
	var numbers [3]int64
	for i, digits := range found[1:] {
		if digits == "" {
			digits = "1"
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return Range{}, fmt.Errorf("%s is outside what 64 bits can hold", digits)
		}
		numbers[i] = n
	}
	low, high, step := numbers[0], numbers[1], numbers[2]
	switch {
	case step < 1:
		return Range{}, fmt.Errorf("the step is %d; it must be at least 1", step)
	case low > high:
		return Range{}, fmt.Errorf("the range %d..%d is empty: the smaller number comes first", low, high)
	}
	// The difference of two int64 fits in a uint64.
	further := (uint64(high) - uint64(low)) / uint64(step)
	switch further {
	case 0:
		return Range{}, fmt.Errorf("the range has only the value %d: write that value, or a wider range", low)
	case math.MaxUint64:
		return Range{}, errors.New("the range has more values than 64 bits can count")
	}
	return Range{lowest: low, step: step, valueCount: further + 1}, nil
}

func parseChoices(text string) (Range, error) {
	var r Range
	for part := range strings.SplitSeq(text, "|") {
		part = strings.TrimSpace(part)
		value := pyyaml.InterpretUnquoted(part).Text
		switch {
		case len(r.choiceTexts) == maxRangeChoices:
			return r, fmt.Errorf("a range has at most %d choices", maxRangeChoices)
		case part == "":
			return r, errors.New("a choice is empty: write choice 64|128|256")
		case slices.Contains(r.choiceTexts, value):
			return r, fmt.Errorf("the choice %s appears twice", value)
		}
		r.choiceTexts = append(r.choiceTexts, value)
	}
	if r.valueCount = uint64(len(r.choiceTexts)); r.valueCount < 2 {
		return r, fmt.Errorf("there is only the choice %s: write that value, or choices with | between them", r.choiceTexts[0])
	}
	return r, nil
}

// valueAt returns the value at an index, from 0.
func (r Range) valueAt(i uint64) string {
	if r.choiceTexts != nil {
		return r.choiceTexts[i]
	}
	return strconv.FormatInt(r.lowest+int64(i*uint64(r.step)), 10)
}

// endValues returns the values for checking the expressions of the roofline: all choices, or the smallest and largest
// number.
func (r Range) endValues() []string {
	if r.choiceTexts != nil {
		return r.choiceTexts
	}
	return []string{r.valueAt(0), r.valueAt(r.valueCount - 1)}
}

// HasRanges reports whether an argument of the case is a range.
func (c Case) HasRanges() bool {
	return slices.ContainsFunc(c, func(a Arg) bool { return isRange(a.Value) })
}

// HasRanges reports whether a case of the task has a range.
func (d Definition) HasRanges() bool {
	return slices.ContainsFunc(slices.Concat(d.Tests, d.Benchmarks), Case.HasRanges)
}

// DrawValues returns the task with a generated value in place of each range. Equal seeds give equal values for equal
// cases, in every release: generated values are not stored.
func (d Definition) DrawValues(seed []byte) Definition {
	d.Tests, d.Benchmarks = drawCases("tests", d.Tests, seed), drawCases("benchmarks", d.Benchmarks, seed)
	return d
}

func drawCases(list string, cases []Case, seed []byte) []Case {
	cases = slices.Clone(cases)
	for i, c := range cases {
		cases[i] = slices.Clone(c)
		for k, arg := range c {
			if !isRange(arg.Value) {
				continue
			}
			// A version stored before ranges existed may have a text that only looks like a range.
			if r, err := ParseRange(arg.Value); err == nil {
				cases[i][k].Value = r.drawValue(seed, joinKey(indexedKey(list, i), arg.Name))
			}
		}
	}
	return cases
}

// drawValue returns a value of the range that depends only on seed and place, the path of an argument such as
// "tests[1].n".
func (r Range) drawValue(seed []byte, place string) string {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(place))
	sum := mac.Sum(nil)
	// The remainder of 128 bits is biased by at most one in 2^64.
	return r.valueAt(bits.Rem64(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:]), r.valueCount))
}

// cornerCases returns copies of the case with extreme values for its ranges: all lowest, all highest, and each choice.
func (c Case) cornerCases() []Case {
	ends, most := make([][]string, len(c)), 1
	for i, arg := range c {
		if !isRange(arg.Value) {
			continue
		}
		if r, err := ParseRange(arg.Value); err == nil {
			ends[i] = r.endValues()
			most = max(most, len(ends[i]))
		}
	}
	out := make([]Case, most)
	for n := range out {
		out[n] = slices.Clone(c)
		for i, of := range ends {
			if len(of) > 0 {
				out[n][i].Value = of[min(n, len(of)-1)]
			}
		}
	}
	return out
}

// checkRange refuses an invalid range.
func (r *taskReader) checkRange(node *yaml.Node, key, name, text string) {
	_, err := ParseRange(text)
	switch {
	case err != nil:
		r.addProblem(node, key, "%v", err)
	case name == "world_size":
		r.addProblem(node, key, "the number of GPUs cannot be drawn")
	}
}

// checkRanges refuses ranges in a task with its own harness: its program runs the kernel in the same process and prints
// the cases, so the generated values would not stay secret.
func (r *taskReader) checkRanges(f yamlFields) {
	def := r.bundle.Definition
	if !def.HasOwnHarness {
		return
	}
	for _, list := range []struct {
		key   string
		cases []Case
	}{{"tests", def.Tests}, {"benchmarks", def.Benchmarks}} {
		for i, c := range list.cases {
			if c.HasRanges() {
				r.addProblem(f[list.key].Content[i], indexedKey(list.key, i), "a task with an eval program of its own has no ranges: that program prints its cases. Write values, or choose harness: warpboard")
			}
		}
	}
}
