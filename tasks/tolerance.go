package tasks

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// Tolerance has the largest allowed difference of an output, with the names that task.yml and evaluations use.
// warpboard_compare.py of the harness applies it, and has the defaults for nil fields.
type Tolerance struct {
	ATol            *float64 `json:"atol,omitempty"`
	RTol            *float64 `json:"rtol,omitempty"`
	MinMatchedShare *float64 `json:"matched,omitempty"`   // share of the elements that must be within ATol plus RTol
	MaxError        *float64 `json:"max_error,omitempty"` // largest difference of any element
	EqualNaN        *bool    `json:"equal_nan,omitempty"`
	InfiniteRule    string   `json:"infinite,omitempty"` // one of InfiniteRuleNames
}

// Tolerances are a default tolerance, and tolerances of single outputs by name or number.
type Tolerances struct {
	Tolerance
	ByOutput map[string]Tolerance `json:"tolerances,omitempty"`
}

// MaxTolerances limits the outputs with a separate tolerance.
const MaxTolerances = 64

// InfiniteRuleNames returns the allowed values of infinite: which infinities equal themselves in a comparison.
func InfiniteRuleNames() []string { return []string{"equal", "negative", "never"} }

// CheckToleranceValue returns the reason why number is invalid for the key word of a tolerance; "" if it is valid.
func CheckToleranceValue(word string, number float64) string {
	switch {
	case word == "matched" && !(number > 0 && number <= 1):
		return "must be above 0, and 1 at most"
	case word == "matched" && number < 0.01:
		return "must be at least 0.01"
	case !(number >= 0):
		return "must not be negative"
	case number > 1e6 && word != "max_error" || math.IsInf(number, 0):
		return "must be 1000000 at most"
	}
	return ""
}

// readTolerances reads the keys tolerance and tolerances.
func (r *taskReader) readTolerances(f yamlFields) *Tolerances {
	def, node := &r.bundle.Definition, f["tolerance"]
	if node == nil {
		node = f["tolerances"]
	}
	switch {
	case node == nil:
		return nil
	case def.Lang != LangPython:
		r.addProblem(node, "tolerance", "is for Python tasks: in C++ and CUDA C++, check_implementation of the reference compares answers")
	case def.HasOwnHarness:
		r.addProblem(node, "tolerance", "needs Warpboard's harness, and the task has its own eval program")
	case def.MultiGPU:
		r.addProblem(node, "tolerance", "cannot be combined with multi_gpu: check_implementation of the reference compares the answers of all ranks")
	}
	out := &Tolerances{Tolerance: r.readTolerance(f["tolerance"], "tolerance")}
	for name, value := range r.mappingPairs(f["tolerances"], "tolerances") {
		if out.ByOutput == nil {
			out.ByOutput = map[string]Tolerance{}
		}
		out.ByOutput[name.Value] = r.readTolerance(value, joinKey("tolerances", name.Value))
	}
	if len(out.ByOutput) > MaxTolerances {
		r.addProblem(f["tolerances"], "tolerances", "has %d outputs; at most %d are allowed", len(out.ByOutput), MaxTolerances)
	}
	return out
}

func (r *taskReader) readTolerance(node *yaml.Node, key string) Tolerance {
	if node == nil {
		return Tolerance{}
	}
	f := r.readMapping(node, key, knownKeys("tolerance", "")...)
	number := func(word string) *float64 {
		value := f[word]
		if value == nil {
			return nil
		}
		n, err := strconv.ParseFloat(value.Value, 64)
		why := CheckToleranceValue(word, n)
		if err != nil || value.Kind != yaml.ScalarNode {
			why = "must be a number"
		}
		if why != "" {
			r.addProblem(value, joinKey(key, word), "%s", why)
		}
		return &n
	}
	out := Tolerance{
		ATol:            number("atol"),
		RTol:            number("rtol"),
		MinMatchedShare: number("matched"),
		MaxError:        number("max_error"),
	}
	if f["equal_nan"] != nil {
		equal := r.readBoolean(f["equal_nan"], joinKey(key, "equal_nan"), false)
		out.EqualNaN = &equal
	}
	out.InfiniteRule = r.readChoice(f["infinite"], joinKey(key, "infinite"), "", InfiniteRuleNames()...)
	return out
}

// yamlNode returns the tolerance as a YAML mapping on one line.
func (t Tolerance) yamlNode() *yaml.Node {
	var pairs []any
	for _, word := range []struct {
		name  string
		value *float64
	}{{"atol", t.ATol}, {"rtol", t.RTol}, {"matched", t.MinMatchedShare}, {"max_error", t.MaxError}} {
		if word.value != nil {
			pairs = append(pairs, word.name, pyyaml.FloatNode(*word.value))
		}
	}
	if t.EqualNaN != nil {
		pairs = append(pairs, "equal_nan", pyyaml.UnquotedNode(fmt.Sprint(*t.EqualNaN)))
	}
	if t.InfiniteRule != "" {
		pairs = append(pairs, "infinite", pyyaml.UnquotedNode(t.InfiniteRule))
	}
	return pyyaml.FlowMapping(pairs...)
}

// String returns the tolerances as a text for people.
func (t Tolerances) String() string {
	text := t.keyWords()
	for _, name := range slices.Sorted(maps.Keys(t.ByOutput)) {
		text += "; " + name + ": " + t.ByOutput[name].keyWords()
	}
	return text
}

func (t Tolerance) keyWords() string {
	var words []string
	for pair := range slices.Chunk(t.yamlNode().Content, 2) {
		words = append(words, pair[0].Value+" "+pair[1].Value)
	}
	return cmp.Or(strings.Join(words, ", "), "atol 0.01, rtol 0.01")
}

func writeTolerances(y *pyyaml.Mapping, t *Tolerances) {
	if t == nil {
		return
	}
	y.AddNode("tolerance", t.yamlNode())
	outputs := pyyaml.NewMapping()
	for _, name := range slices.Sorted(maps.Keys(t.ByOutput)) {
		outputs.AddNode(name, t.ByOutput[name].yamlNode())
	}
	if len(t.ByOutput) > 0 {
		y.AddNode("tolerances", outputs.Node)
	}
}
