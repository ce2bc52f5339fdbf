package mutants

import (
	_ "embed"
	"fmt"

	"warpboard/tasks"
)

//go:embed trivial.py
var trivialSource string

// TrivialAnswer is a kind of answer that needs no computation. A check that accepts one does not test kernels.
type TrivialAnswer struct {
	Name string // as in "The tests pass zeros"
	kind string
}

// TrivialAnswers returns the kinds, the most likely to pass first.
func TrivialAnswers() []TrivialAnswer {
	return []TrivialAnswer{{"zeros", "zeros"}, {"a copy of an input", "copy"}, {"the mean of all elements", "mean"}}
}

// Replace changes a correct Python solution so that it gives trivial answers of this kind. An answer without such a
// form becomes None.
func (t TrivialAnswer) Replace(s tasks.Submission) tasks.Submission {
	s.Source = fmt.Appendf(nil, "%s\nKIND = %q\n%s", s.Source, t.kind, trivialSource)
	return s
}
