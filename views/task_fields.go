package views

import "slices"

// EditedFile is a file of a task as its author writes it.
type EditedFile struct{ Path, Text string }

// FileNamed is the place of a file among those of a task; -1: it is not there.
func FileNamed(files []EditedFile, path string) int {
	return slices.IndexFunc(files, func(f EditedFile) bool { return f.Path == path })
}

// FieldKind is how a value of task.yml is written.
type FieldKind string

// The kinds of fields.
const (
	FieldText   FieldKind = "text"
	FieldList   FieldKind = "list" // separated by commas
	FieldNumber FieldKind = "number"
	FieldChoice FieldKind = "choice"
)

// TaskField is a value of task.yml that has a field in the form.
type TaskField struct {
	Key     string
	Label   string
	Hint    string
	Kind    FieldKind
	Choices []string // of a choice; the empty one is the default
	Value   string
}

// Input and Was are the names of a field's inputs: what it holds, and what it held when the page was made.
func (f TaskField) Input() string { return "field_" + f.Key }

// Was is the hidden one.
func (f TaskField) Was() string { return "was_" + f.Key }

// choices are those of a choice, with a value that is none of them.
func (f TaskField) choices() []string {
	if slices.Contains(f.Choices, f.Value) {
		return f.Choices
	}
	return append(slices.Clone(f.Choices), f.Value)
}

// TitleField is the title of the task.
func TitleField() TaskField {
	return TaskField{Key: "title", Label: "Title", Kind: FieldText, Hint: "The name that people see."}
}

// TaskFields are the fields of the form, without values.
func TaskFields() []TaskField {
	return []TaskField{
		TitleField(),
		{Key: "tags", Label: "Tags", Kind: FieldList, Hint: "Separated by commas; beginner, intermediate or advanced say how hard it is."},
		{Key: "problem", Label: "Problem", Kind: FieldText, Hint: "The same word in all variants of one problem."},
		{Key: "gpus", Label: "Devices", Kind: FieldList, Hint: "Separated by commas, as H200, CPU."},
		{Key: "ranking_by", Label: "Score", Kind: FieldChoice, Choices: []string{"", "last", "mean", "geom"}, Hint: "How the benchmarks’ times become one number."},
		{Key: "test_timeout", Label: "Seconds for all tests", Kind: FieldNumber},
		{Key: "benchmark_timeout", Label: "Seconds for all benchmarks", Kind: FieldNumber},
		{Key: "ranked_timeout", Label: "Seconds for a ranked run", Kind: FieldNumber},
	}
}
