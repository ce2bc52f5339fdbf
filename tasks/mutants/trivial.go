package mutants

import (
	_ "embed"
	"fmt"

	"warpboard/tasks"
)

//go:embed trivial.py
var trivialAnswerScript string

// TrivialAnswer is a kind of output that needs no computation. A check that accepts one does not test kernels.
type TrivialAnswer struct {
	Name       string // noun, such as "zeros" in the sentence "The tests pass zeros"
	outputKind string
}

// TrivialAnswers returns all kinds, those that pass most often first.
func TrivialAnswers() []TrivialAnswer {
	return []TrivialAnswer{{"zeros", "zeros"}, {"a copy of an input", "copy"}, {"the mean of all elements", "mean"}}
}

// ReplaceOutputs changes a correct Python solution so that it returns trivial outputs of this kind. An output for which
// the kind is impossible, such as a copy of an input with another shape, becomes None.
func (t TrivialAnswer) ReplaceOutputs(s tasks.Submission) tasks.Submission {
	s.Source = fmt.Appendf(nil, "%s\nKIND = %q\n%s", s.Source, t.outputKind, trivialAnswerScript)
	return s
}
