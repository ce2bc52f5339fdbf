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
	ATol     *float64 `json:"atol,omitempty"`
	RTol     *float64 `json:"rtol,omitempty"`
	Matched  *float64 `json:"matched,omitempty"`   // share of the elements that must be within both
	MaxError *float64 `json:"max_error,omitempty"` // largest difference of any element
	EqualNaN *bool    `json:"equal_nan,omitempty"`
	Infinite string   `json:"infinite,omitempty"` // one of InfiniteRules
}

// Tolerances are a default tolerance, and tolerances of single outputs by name or number.
type Tolerances struct {
	Tolerance
	Outputs map[string]Tolerance `json:"tolerances,omitempty"`
}

// MaxTolerances limits the outputs with a separate tolerance.
const MaxTolerances = 64

// InfiniteRules returns the allowed values of infinite: which infinities equal themselves in a comparison.
func InfiniteRules() []string { return []string{"equal", "negative", "never"} }

// CheckToleranceWord returns the reason why number is invalid for the key word of a tolerance; "" if it is valid.
func CheckToleranceWord(word string, number float64) string {
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

// tolerances reads the keys tolerance and tolerances.
func (r *taskReader) tolerances(f yamlFields) *Tolerances {
	def, node := &r.bundle.Definition, f["tolerance"]
	if node == nil {
		node = f["tolerances"]
	}
	switch {
	case node == nil:
		return nil
	case def.Lang != LangPython:
		r.refuse(node, "tolerance", "is for Python tasks: in C++ and CUDA C++, check_implementation of the reference compares answers")
	case def.OwnHarness:
		r.refuse(node, "tolerance", "needs Warpboard's harness, and the task has its own eval program")
	case def.MultiGPU:
		r.refuse(node, "tolerance", "cannot be combined with multi_gpu: check_implementation of the reference compares the answers of all ranks")
	}
	out := &Tolerances{Tolerance: r.tolerance(f["tolerance"], "tolerance")}
	for name, value := range r.pairs(f["tolerances"], "tolerances") {
		if out.Outputs == nil {
			out.Outputs = map[string]Tolerance{}
		}
		out.Outputs[name.Value] = r.tolerance(value, join("tolerances", name.Value))
	}
	if len(out.Outputs) > MaxTolerances {
		r.refuse(f["tolerances"], "tolerances", "has %d outputs; at most %d are allowed", len(out.Outputs), MaxTolerances)
	}
	return out
}

func (r *taskReader) tolerance(node *yaml.Node, key string) Tolerance {
	if node == nil {
		return Tolerance{}
	}
	f := r.mapping(node, key, knownKeys("tolerance", "")...)
	number := func(word string) *float64 {
		value := f[word]
		if value == nil {
			return nil
		}
		n, err := strconv.ParseFloat(value.Value, 64)
		why := CheckToleranceWord(word, n)
		if err != nil || value.Kind != yaml.ScalarNode {
			why = "must be a number"
		}
		if why != "" {
			r.refuse(value, join(key, word), "%s", why)
		}
		return &n
	}
	out := Tolerance{
		ATol:     number("atol"),
		RTol:     number("rtol"),
		Matched:  number("matched"),
		MaxError: number("max_error"),
	}
	if f["equal_nan"] != nil {
		equal := r.boolean(f["equal_nan"], join(key, "equal_nan"), false)
		out.EqualNaN = &equal
	}
	out.Infinite = r.choice(f["infinite"], join(key, "infinite"), "", InfiniteRules()...)
	return out
}

// node returns the tolerance as a YAML mapping on one line.
func (t Tolerance) node() *yaml.Node {
	var pairs []any
	for _, word := range []struct {
		name  string
		value *float64
	}{{"atol", t.ATol}, {"rtol", t.RTol}, {"matched", t.Matched}, {"max_error", t.MaxError}} {
		if word.value != nil {
			pairs = append(pairs, word.name, pyyaml.Float(*word.value))
		}
	}
	if t.EqualNaN != nil {
		pairs = append(pairs, "equal_nan", pyyaml.PlainScalar(fmt.Sprint(*t.EqualNaN)))
	}
	if t.Infinite != "" {
		pairs = append(pairs, "infinite", pyyaml.PlainScalar(t.Infinite))
	}
	return pyyaml.Flow(pairs...)
}

// String returns the tolerances as a text for people.
func (t Tolerances) String() string {
	text := t.words()
	for _, name := range slices.Sorted(maps.Keys(t.Outputs)) {
		text += "; " + name + ": " + t.Outputs[name].words()
	}
	return text
}

func (t Tolerance) words() string {
	var words []string
	for pair := range slices.Chunk(t.node().Content, 2) {
		words = append(words, pair[0].Value+" "+pair[1].Value)
	}
	return cmp.Or(strings.Join(words, ", "), "atol 0.01, rtol 0.01")
}

func addTolerances(y *pyyaml.Mapping, t *Tolerances) {
	if t == nil {
		return
	}
	y.Add("tolerance", t.node())
	outputs := pyyaml.NewMapping()
	for _, name := range slices.Sorted(maps.Keys(t.Outputs)) {
		outputs.Add(name, t.Outputs[name].node())
	}
	if len(t.Outputs) > 0 {
		y.Add("tolerances", outputs.Node)
	}
}
