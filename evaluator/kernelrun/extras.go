package kernelrun

import (
	"fmt"
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

// mostProblems is how many problems of one list or object are reported. Each costs memory, and the first ones suffice.
const mostProblems = 100

// mostLooked is how many unknown keys of a request are compared with known ones.
const mostLooked = 1000

// unknownKeys are the first of the keys that are not known, in order; of more than most, any.
func unknownKeys(given map[string]any, known []string, most int) (keys []string) {
	for key := range given {
		if len(keys) >= most {
			break
		}
		if !slices.Contains(known, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// search looks for unknown keys in a request.
type search struct {
	refused Extras
	left    int      // how many more it compares
	ignored []string // the paths of those that are not refused
}

// The bounds of what a remark repeats of a request.
const (
	mostIgnored    = 20
	longestIgnored = 80
)

// remarks has a sentence about the keys that are ignored, if there are any.
func (s *search) remarks() []string {
	if len(s.ignored) == 0 {
		return nil
	}
	names := s.ignored[:min(len(s.ignored), mostIgnored)]
	more := ""
	if len(names) < len(s.ignored) {
		more = ", …"
	}
	return []string{"Unknown fields were ignored: " + strings.Join(names, ", ") + more + "."}
}

// extras finds the unknown keys that are refused, in the model and in what it holds; read has refused a strict
// model's own.
func (s *search) extras(m model, at path, value any) (problems []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	known := m.names()
	if !m.strict {
		problems = s.own(at, given, known)
	}
	for _, f := range m.fields {
		problems = append(problems, s.within(f.kind, at.to(f.name), given[f.name])...)
	}
	return problems
}

// own finds those of one object.
func (s *search) own(at path, given map[string]any, known []string) (problems []Problem) {
	passed := known
	if len(at) == 0 { // deeper, such keys were never sent
		passed = slices.Concat(known, foreignKeys)
	}
	for _, key := range unknownKeys(given, passed, min(s.left, mostProblems)) {
		s.left--
		problem := extra(at.to(key), key, known)
		if problem.Hint == "" && s.refused == RefuseAll {
			problem.Hint = "known are " + strings.Join(known, ", ")
		}
		if problem.Hint != "" {
			problems = append(problems, problem)
		} else {
			s.ignore(problem.Field)
		}
	}
	if len(at) == 0 {
		for _, key := range foreignKeys {
			if _, given := given[key]; given && key != "index" && !slices.Contains(known, key) { // a client numbers its own requests
				s.ignore(key)
			}
		}
	}
	return problems
}

func (s *search) ignore(field string) {
	s.ignored = append(s.ignored, fmt.Sprintf("%.*s", longestIgnored, field))
}

// within looks into a value that is a model or a list of them.
func (s *search) within(of kind, at path, value any) (problems []Problem) {
	switch k := of.(type) {
	case model:
		return s.extras(k, at, value)
	case list:
		items, _ := value.([]any)
		for i, item := range items {
			if len(problems) >= mostProblems || s.left == 0 {
				break
			}
			problems = append(problems, s.within(k.of, at.to(strconv.Itoa(i)), item)...)
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
