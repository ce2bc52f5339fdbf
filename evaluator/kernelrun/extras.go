package kernelrun

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"warpboard/tasks"
)

// UnknownKeyPolicy selects the unknown keys of a request that are errors.
type UnknownKeyPolicy int

const (
	// RefuseMistyped refuses unknown keys that are similar to a known one. Others are ignored, because clients of the
	// foreign API add their own keys.
	RefuseMistyped UnknownKeyPolicy = iota
	// RefuseAll refuses every unknown key except those that foreign clients are known to send.
	RefuseAll
)

// ignoredClientKeys lists keys that clients of the foreign API send and that have no effect; tolerances without a
// reference, for example.
var ignoredClientKeys = []string{"index", "num_warmup", "atol", "rtol"}

// keyNames returns the keys of a model.
func (m model) keyNames() []string {
	names := make([]string, len(m.fields))
	for i, f := range m.fields {
		names[i] = f.name
	}
	return names
}

// maxProblems limits the reported problems of one list or object.
const maxProblems = 100

// maxKeyComparisons limits the unknown keys of a request that are compared with known ones.
const maxKeyComparisons = 1000

// unknownKeys returns at most limit unknown keys, sorted. If there are more, the selection is arbitrary.
func unknownKeys(given map[string]any, known []string, limit int) (keys []string) {
	for key := range given {
		if len(keys) >= limit {
			break
		}
		if !slices.Contains(known, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// keySearch finds unknown keys in a request.
type keySearch struct {
	policy               UnknownKeyPolicy
	remainingComparisons int      // see maxKeyComparisons
	ignoredPaths         []string // paths of unknown keys that are ignored
}

// Limits for the ignored keys that a remark lists: their number, and the bytes of each.
const (
	maxListedKeys     = 20
	maxListedKeyBytes = 80
)

// remarks returns a sentence about the ignored keys, if there are any.
func (s *keySearch) remarks() []string {
	if len(s.ignoredPaths) == 0 {
		return nil
	}
	names := s.ignoredPaths[:min(len(s.ignoredPaths), maxListedKeys)]
	more := ""
	if len(names) < len(s.ignoredPaths) {
		more = ", …"
	}
	return []string{"Unknown fields were ignored: " + strings.Join(names, ", ") + more + "."}
}

// unknownKeyProblems returns problems with unknown keys in a value of model m and in its parts. It skips the keys of
// value itself if m refuses unknown keys, because model.read has reported them.
func (s *keySearch) unknownKeyProblems(m model, at keyPath, value any) (problems []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	known := m.keyNames()
	if !m.refusesUnknownKeys {
		problems = s.objectProblems(at, given, known)
	}
	for _, f := range m.fields {
		problems = append(problems, s.nestedProblems(f.kind, at.child(f.name), given[f.name])...)
	}
	return problems
}

// objectProblems returns the problems with keys of one object.
func (s *keySearch) objectProblems(at keyPath, given map[string]any, known []string) (problems []Problem) {
	passed := known
	if len(at) == 0 { // clients send ignoredClientKeys only at the top level
		passed = slices.Concat(known, ignoredClientKeys)
	}
	for _, key := range unknownKeys(given, passed, min(s.remainingComparisons, maxProblems)) {
		s.remainingComparisons--
		problem := unknownKeyProblem(at.child(key), key, known)
		if problem.Hint == "" && s.policy == RefuseAll {
			problem.Hint = "known are " + strings.Join(known, ", ")
		}
		if problem.Hint != "" {
			problems = append(problems, problem)
		} else {
			s.ignorePath(problem.Field)
		}
	}
	if len(at) == 0 {
		for _, key := range ignoredClientKeys {
			// index is a number that clients give their requests; it needs no remark.
			if _, given := given[key]; given && key != "index" && !slices.Contains(known, key) {
				s.ignorePath(key)
			}
		}
	}
	return problems
}

func (s *keySearch) ignorePath(field string) {
	s.ignoredPaths = append(s.ignoredPaths, fmt.Sprintf("%.*s", maxListedKeyBytes, field))
}

// nestedProblems returns the problems in a value that is a model or a list of models.
func (s *keySearch) nestedProblems(of valueKind, at keyPath, value any) (problems []Problem) {
	switch k := of.(type) {
	case model:
		return s.unknownKeyProblems(k, at, value)
	case listKind:
		items, _ := value.([]any)
		for i, item := range items {
			if len(problems) >= maxProblems || s.remainingComparisons == 0 {
				break
			}
			problems = append(problems, s.nestedProblems(k.elementKind, at.child(strconv.Itoa(i)), item)...)
		}
	}
	return problems
}

// unknownKeyProblem returns the problem with one unknown key. Its hint names a similar known key, if there is one.
func unknownKeyProblem(at keyPath, key string, known []string) Problem {
	problem := at.newProblem("extra_forbidden", "Extra inputs are not permitted")[0]
	if near := tasks.NearestName(key, known); near != "" {
		problem.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return problem
}
