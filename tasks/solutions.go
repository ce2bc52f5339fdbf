package tasks

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// solutionsDir is the folder next to task.yml with submissions whose verdict is known.
const solutionsDir = "solutions"

// Solution is a submission that is part of a task, for testing it.
type Solution struct {
	Name       string // name of its file or folder
	ShouldPass bool   // true if it must pass, false if it must fail
	Source     []byte
	Files      map[string][]byte // further files, by name
}

// Submission returns the solution as a Submission.
func (s Solution) Submission() Submission { return Submission{Source: s.Source, Files: s.Files} }

// Solutions returns the submissions in solutions/correct and solutions/wrong of a task folder, sorted by name; none if
// the folder does not exist. Each is a file, or a folder whose main file is submission.*. A reference in the legacy
// format has one solution: the reference itself.
func (u *Upload) Solutions(folder string) ([]Solution, error) {
	if u.referenceFile != "" {
		return []Solution{referenceAsSolution(languageOfReference(u.referenceFile))}, nil
	}
	var out []Solution
	for _, verdict := range []struct {
		name    string
		correct bool
	}{{"correct", true}, {"wrong", false}} {
		found, err := u.solutionsIn(path.Join(folder, solutionsDir, verdict.name), verdict.correct)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (u *Upload) solutionsIn(at string, correct bool) ([]Solution, error) {
	byName := map[string]Solution{}
	for _, name := range u.tree.List(at) {
		if !isSolutionPath(name) {
			continue
		}
		text, err := u.tree.Read(path.Join(at, name))
		if err != nil {
			return nil, fmt.Errorf("reading the solution %s: %w", path.Join(at, name), err)
		}
		first, file, several := strings.Cut(name, "/")
		s := byName[first]
		s.Name, s.ShouldPass = first, correct
		switch {
		case !several || nameWithoutSuffix(file) == "submission":
			s.Source = text
		case s.Files == nil:
			s.Files = map[string][]byte{file: text}
		default:
			s.Files[file] = text
		}
		byName[first] = s
	}
	maps.DeleteFunc(byName, func(_ string, s Solution) bool { return s.Source == nil })
	return slices.SortedFunc(maps.Values(byName), func(a, b Solution) int { return strings.Compare(a.Name, b.Name) }), nil
}

// isSolutionPath reports whether a path in a folder of solutions is a solution or a file of one.
func isSolutionPath(name string) bool {
	return strings.Count(name, "/") <= 1 && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// referenceAsSolution returns a submission with the same outputs as the reference.
func referenceAsSolution(lang Lang) Solution {
	source := "output_t custom_kernel(input_t input) { return ref_kernel(input); }\n"
	if lang == LangPython {
		source = "from reference import ref_kernel as custom_kernel\n"
	}
	return Solution{Name: "the reference itself", ShouldPass: true, Source: []byte(source)}
}

// matchReferencePattern matches the Python function with which make_match_reference compares outputs.
var matchReferencePattern = regexp.MustCompile(`\bmake_match_reference\(\s*([A-Za-z_]\w*)`)

// ReferenceSolution returns a submission with the same outputs as the reference; ok is false if the reference has no
// function that computes them.
func (b *Bundle) ReferenceSolution() (s Solution, ok bool) {
	d := b.Definition
	if d.Protocol == ProtocolLegacy {
		return referenceAsSolution(d.Lang), true
	}
	at := slices.IndexFunc(d.Files, func(f File) bool { return f.Name == "reference.py" })
	if d.Lang != LangPython || at < 0 {
		return s, false
	}
	s = referenceAsSolution(d.Lang)
	text := b.Files[d.Files[at].Source]
	if m := matchReferencePattern.FindSubmatch(text); m != nil {
		s.Source = fmt.Appendf(nil, "from reference import %s as custom_kernel\n", m[1])
		return s, true
	}
	return s, bytes.Contains(text, []byte("\ndef ref_kernel("))
}

//go:embed examples
var examples embed.FS

// Examples returns the built-in tasks, sorted by name.
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

// ExampleSolutions returns the correct and wrong submissions of a built-in task.
func ExampleSolutions(name string) ([]Solution, error) {
	upload, err := openExamples()
	if err != nil {
		return nil, err
	}
	return upload.Solutions(name)
}

// uninstalledExamples are example tasks that no site installs, because they need packages or GPUs that most sites lack.
//
//go:embed starters
var uninstalledExamples embed.FS

// ExampleFolder returns the original folder of an example task, either built-in or from starters.
func ExampleFolder(name string) (fs.FS, error) {
	from, at := uninstalledExamples, path.Join("starters", name)
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
	return OpenFolder(sub, ReadOptions{}), nil
}
