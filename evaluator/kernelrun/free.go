package kernelrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// atLeast is an integer of 64 bits with a smallest value, such as a tensor's size in one direction.
type atLeast int64

func (least atLeast) read(at path, value any) (any, []Problem) {
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

func (least atLeast) schema() map[string]any {
	return map[string]any{"type": "integer", "format": "int64", "minimum": int64(least)}
}

// size is an integer from 1 on, or an expression over the scalar arguments.
type size struct{}

// read takes an integer, or a text such as "cdiv(n, 256)", which the launching program evaluates.
func (size) read(at path, value any) (any, []Problem) {
	if s, ok := value.(string); ok && expression.MatchString(s) {
		return s, nil
	}
	return atLeast(1).read(at, value)
}

func (size) schema() map[string]any { return oneOf(atLeast(1).schema(), typed("string")) }

// mostNested is how deep objects and lists of free keys may lie in each other. The worker's program reads them with
// Python, which gives up far below what Go reads.
const mostNested = 32

// unreadable finds what the worker's program could not read in a value of free keys: nesting, or a number of no machine.
func unreadable(at path, value any, depth int) []Problem {
	if depth < 0 {
		return at.problem("too_deep", fmt.Sprintf("Input should be nested at most %d levels deep", mostNested))
	}
	switch v := value.(type) {
	case json.Number:
		_, problems := scalar{}.read(at, v)
		return problems
	case []any:
		for i, item := range v {
			if problems := unreadable(at.to(strconv.Itoa(i)), item, depth-1); len(problems) > 0 {
				return problems
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if problems := unreadable(at.to(key), v[key], depth-1); len(problems) > 0 {
				return problems
			}
		}
	}
	return nil
}
