package kernelrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// minInteger is a 64-bit integer with a minimum, such as the size of a tensor's dimension.
type minInteger int64

func (least minInteger) read(at keyPath, value any) (any, []Problem) {
	n, problems := integer{}.read(at, value)
	if len(problems) > 0 {
		return nil, problems
	}
	switch n, fits := n.(int64); {
	case !fits:
		return nil, at.problem("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", int64(math.MaxInt64)))
	case n < int64(least):
		return nil, at.problem("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least))
	}
	return n, nil
}

func (least minInteger) schema() map[string]any {
	return map[string]any{"type": "integer", "format": "int64", "minimum": int64(least)}
}

// positiveSize is a positive integer, or an expression over the scalar arguments.
type positiveSize struct{}

// read accepts an integer, or a text such as "cdiv(n, 256)", which the program evaluates at the launch.
func (positiveSize) read(at keyPath, value any) (any, []Problem) {
	if s, ok := value.(string); ok && expressionPattern.MatchString(s) {
		return s, nil
	}
	return minInteger(1).read(at, value)
}

func (positiveSize) schema() map[string]any { return oneOf(minInteger(1).schema(), typed("string")) }

// maxNesting limits the nesting of objects and lists in keys without a fixed type. The worker's Python program parses
// them, whose limit is far below Go's.
const maxNesting = 32

// unreadableProblems returns problems that the worker's Python program would have with a value: deep nesting, or a
// number that no machine type can hold.
func unreadableProblems(at keyPath, value any, depth int) []Problem {
	if depth < 0 {
		return at.problem("too_deep", fmt.Sprintf("Input should be nested at most %d levels deep", maxNesting))
	}
	switch v := value.(type) {
	case json.Number:
		_, problems := scalar{}.read(at, v)
		return problems
	case []any:
		for i, item := range v {
			if problems := unreadableProblems(at.to(strconv.Itoa(i)), item, depth-1); len(problems) > 0 {
				return problems
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if problems := unreadableProblems(at.to(key), v[key], depth-1); len(problems) > 0 {
				return problems
			}
		}
	}
	return nil
}
