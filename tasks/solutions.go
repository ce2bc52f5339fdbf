package tasks

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// solutionsDir holds, beside task.yml, submissions of a known verdict.
const solutionsDir = "solutions"

// Solution is a submission that comes with a task to try it.
type Solution struct {
	Name    string // file name
	Correct bool   // it must pass; otherwise it must fail
	Source  []byte
}

// Solutions finds solutions/correct/* and solutions/wrong/* in a task folder, by name within each; no
// such folder is no error. A reference in the legacy format comes with one: itself, submitted.
func (u *Upload) Solutions(folder string) ([]Solution, error) {
	if u.reference != "" {
		return []Solution{referenceAsSolution(legacyLang(u.reference))}, nil
	}
	var out []Solution
	for _, verdict := range []struct {
		name    string
		correct bool
	}{{"correct", true}, {"wrong", false}} {
		at := path.Join(folder, solutionsDir, verdict.name)
		for _, name := range u.tree.list(at) {
			if strings.Contains(name, "/") || strings.HasPrefix(name, ".") {
				continue
			}
			source, err := u.tree.read(path.Join(at, name))
			if err != nil {
				return nil, fmt.Errorf("reading the solution %s: %w", path.Join(at, name), err)
			}
			out = append(out, Solution{Name: name, Correct: verdict.correct, Source: source})
		}
	}
	return out, nil
}

// referenceAsSolution is a submission that answers what the reference does.
func referenceAsSolution(lang Lang) Solution {
	source := "output_t custom_kernel(input_t input) { return ref_kernel(input); }\n"
	if lang == LangPython {
		source = "from reference import ref_kernel as custom_kernel\n"
	}
	return Solution{Name: "the reference itself", Correct: true, Source: []byte(source)}
}

//go:embed examples
var examples embed.FS

// Examples gives the built-in tasks, by name.
func Examples() ([]*Bundle, error) {
	upload, err := openExamples()
	if err != nil {
		return nil, err
	}
	bundles, err := upload.Bundles()
	if err != nil {
		return nil, fmt.Errorf("reading the built-in tasks: %w", err)
	}
	return bundles, nil
}

// ExampleSolutions gives the right and wrong submissions that come with a built-in task.
func ExampleSolutions(name string) ([]Solution, error) {
	upload, err := openExamples()
	if err != nil {
		return nil, err
	}
	return upload.Solutions(name)
}

// starters are tasks to begin with that no site installs: they need more than most sites have.
//
//go:embed starters
var starters embed.FS

// StarterFolder is the folder of a task to begin with as its author wrote it: of a built-in one, or of one that is only that.
func StarterFolder(name string) (fs.FS, error) {
	from, at := starters, path.Join("starters", name)
	if _, err := fs.Stat(from, at); err != nil {
		from, at = examples, path.Join("examples", name)
	}
	sub, err := fs.Sub(from, at)
	if err != nil {
		return nil, fmt.Errorf("opening the task %s to begin with: %w", name, err)
	}
	return sub, nil
}

func openExamples() (*Upload, error) {
	sub, err := fs.Sub(examples, "examples")
	if err != nil {
		return nil, fmt.Errorf("opening the built-in tasks: %w", err)
	}
	return OpenFolder(sub, Options{}), nil
}
