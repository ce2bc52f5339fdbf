package kernelrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// minIntegerKind is a 64-bit integer with a minimum, such as the size of a tensor's dimension.
type minIntegerKind int64

func (least minIntegerKind) read(at keyPath, value any) (any, []Problem) {
	n, problems := integerKind{}.read(at, value)
	if len(problems) > 0 {
		return nil, problems
	}
	switch n, fits := n.(int64); {
	case !fits:
		return nil, at.newProblem("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", int64(math.MaxInt64)))
	case n < int64(least):
		return nil, at.newProblem("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d",
			least))
	}
	return n, nil
}

func (least minIntegerKind) schema() map[string]any {
	return map[string]any{"type": "integer", "format": "int64", "minimum": int64(least)}
}

// positiveSizeKind is a positive integer, or an expression over the scalar arguments.
type positiveSizeKind struct{}

// read accepts an integer, or a text such as "cdiv(n, 256)", which the program evaluates at the launch.
func (positiveSizeKind) read(at keyPath, value any) (any, []Problem) {
	if s, ok := value.(string); ok && expressionPattern.MatchString(s) {
		return s, nil
	}
	return minIntegerKind(1).read(at, value)
}

func (positiveSizeKind) schema() map[string]any {
	return oneOfSchema(minIntegerKind(1).schema(), typeSchema("string"))
}

// maxNesting limits the nesting of objects and lists in keys without a fixed type. The worker's Python program also
// parses them, and its parser has a far lower limit than Go's.
const maxNesting = 32

// unreadableProblems returns problems that the worker's Python program would have with a value: deep nesting, or a
// number that no machine type can hold.
func unreadableProblems(at keyPath, value any, depth int) []Problem {
	if depth < 0 {
		return at.newProblem("too_deep", fmt.Sprintf("Input should be nested at most %d levels deep", maxNesting))
	}
	switch v := value.(type) {
	case json.Number:
		_, problems := scalarKind{}.read(at, v)
		return problems
	case []any:
		for i, item := range v {
			if problems := unreadableProblems(at.child(strconv.Itoa(i)), item, depth-1); len(problems) > 0 {
				return problems
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if problems := unreadableProblems(at.child(key), v[key], depth-1); len(problems) > 0 {
				return problems
			}
		}
	}
	return nil
}
