package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// solutionsDir holds, beside task.yml, submissions of a known verdict.
const solutionsDir = "solutions"

// Solution is a submission that comes with a task to try it.
type Solution struct {
	Name    string // file name
	Correct bool   // it must pass; otherwise it must fail
	Source  []byte
}

// Solutions finds solutions/correct/* and solutions/wrong/* in the task folder dir, by name
// within each; no such folder is no error.
func Solutions(fsys fs.FS, dir string) ([]Solution, error) {
	var out []Solution
	for _, verdict := range []struct {
		name    string
		correct bool
	}{{"correct", true}, {"wrong", false}} {
		at := path.Join(dir, solutionsDir, verdict.name)
		entries, err := fs.ReadDir(fsys, at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", at, err)
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() {
				continue
			}
			source, err := fs.ReadFile(fsys, path.Join(at, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("reading the solution %s: %w", path.Join(at, entry.Name()), err)
			}
			out = append(out, Solution{Name: entry.Name(), Correct: verdict.correct, Source: source})
		}
	}
	return out, nil
}
