package kernelrun

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpboard/tasks"
)

// Extras says which unknown keys of a request are refused.
type Extras int

const (
	// RefuseMistyped refuses keys that are close to a known one. Others are ignored, as clients of the foreign API,
	// which add keys of their own, expect.
	RefuseMistyped Extras = iota
	// RefuseAll refuses every unknown key but those that foreign clients are known to send.
	RefuseAll
)

// foreignKeys are sent by clients of the foreign API and mean nothing: tolerances need a reference.
var foreignKeys = []string{"index", "num_warmup", "atol", "rtol"}

// names are the keys that a model has.
func (m model) names() []string {
	names := make([]string, len(m.fields))
	for i, f := range m.fields {
		names[i] = f.name
	}
	return names
}

// extras finds the unknown keys that are refused, in the model and in what it holds; read has refused a strict
// model's own.
func (m model) extras(at path, value any, refused Extras) (problems []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	known := m.names()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		// Foreign keys are let pass at the top alone; deeper ones were never sent by anybody.
		if m.strict || slices.Contains(known, key) || len(at) == 0 && slices.Contains(foreignKeys, key) {
			continue
		}
		problem := extra(at.to(key), key, known)
		if problem.Hint == "" && refused == RefuseAll {
			problem.Hint = "known are " + strings.Join(known, ", ")
		}
		if problem.Hint != "" {
			problems = append(problems, problem)
		}
	}
	for _, f := range m.fields {
		problems = append(problems, extrasIn(f.kind, at.to(f.name), given[f.name], refused)...)
	}
	return problems
}

// extrasIn looks into a value that is a model or a list of them.
func extrasIn(of kind, at path, value any, refused Extras) (problems []Problem) {
	switch k := of.(type) {
	case model:
		return k.extras(at, value, refused)
	case list:
		items, _ := value.([]any)
		for i, item := range items {
			problems = append(problems, extrasIn(k.of, at.to(strconv.Itoa(i)), item, refused)...)
		}
	}
	return problems
}

// extra is the problem with one unknown key. Its hint names the known key that was probably meant, if there is one.
func extra(at path, key string, known []string) Problem {
	problem := at.problem("extra_forbidden", "Extra inputs are not permitted")[0]
	if near := tasks.Nearest(key, known); near != "" {
		problem.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return problem
}
