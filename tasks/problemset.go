package tasks

import (
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// ProblemSet is one problems/*.yaml: tasks with the boards' names, deadlines and devices.
type ProblemSet struct {
	File        string
	Name        string
	Description string
	Deadline    string // as written; of the competition, the problems have their own
	Problems    []SetProblem
}

// SetProblem is one problem of a set, with its task if that could be read.
type SetProblem struct {
	Directory string    // as written: relative to the set's folder
	Name      string    // of the task
	Deadline  time.Time // UTC
	GPUs      []string  // from the set, else from the task; empty if neither says
	Notes     []string  // what was assumed
	Bundle    *Bundle   // nil if Err is set
	Err       error     // why the task cannot be made; Problems
}

// defaultDeadline is how long a problem runs that has no (readable) deadline.
const defaultDeadline = 365 * 24 * time.Hour

// ReadProblemSets gives the problem sets of a zip; none is no error.
func ReadProblemSets(r io.ReaderAt, size int64, options Options) ([]ProblemSet, error) {
	upload, err := OpenZip(r, size, options)
	if err != nil {
		return nil, err
	}
	return upload.ProblemSets(time.Now())
}

// ProblemSets gives the problem sets of the upload: every .yaml or .yml file with a key
// `problems`. A set that cannot be read is an error; a problem that cannot, says so itself.
// Deadlines that are missing are counted from now.
func (u *Upload) ProblemSets(now time.Time) ([]ProblemSet, error) {
	var sets []ProblemSet
	var problems Problems
	for _, name := range u.tree.list(".") {
		if suffix := path.Ext(name); suffix != ".yaml" && suffix != ".yml" || path.Base(name) == TaskFile {
			continue
		}
		set, err := u.problemSet(name, now)
		for _, p := range ProblemsIn(err) {
			problems.add(p)
		}
		if err != nil && ProblemsIn(err) == nil {
			return nil, err
		}
		if set != nil {
			sets = append(sets, *set)
		}
	}
	return sets, problems.err()
}

// problemSet reads one set; it gives nil for YAML that is something else, well-formed or not.
func (u *Upload) problemSet(file string, now time.Time) (*ProblemSet, error) {
	data, err := u.tree.read(file)
	if err != nil {
		return nil, err
	}
	root, err := parseYAML(file, data)
	if err != nil && path.Base(path.Dir(file)) != "problems" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode || !hasKey(root, "problems") {
		return nil, nil
	}
	s := &setReader{reader: reader{file: file}, upload: u, now: now.UTC()}
	set := s.read(root)
	return set, s.problems.err()
}

func hasKey(node *yaml.Node, key string) bool {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return true
		}
	}
	return false
}

type setReader struct {
	reader
	upload *Upload
	now    time.Time
}

func (s *setReader) read(root *yaml.Node) *ProblemSet {
	f := s.fields(root, "", "name", "description", "deadline", "problems")
	set := &ProblemSet{
		File: s.file, Name: s.text(f["name"], "name"), Description: s.text(f["description"], "description"),
		Deadline: s.text(f["deadline"], "deadline"),
	}
	if set.Name == "" {
		set.Name = stem(s.file)
	}
	for i, item := range s.items(f["problems"], "problems") {
		set.Problems = append(set.Problems, s.problem(item, index("problems", i)))
	}
	return set
}

func (s *setReader) problem(node *yaml.Node, key string) SetProblem {
	f := s.fields(node, key, "directory", "name", "deadline", "gpus")
	p := SetProblem{
		Directory: s.text(f["directory"], key+".directory"),
		Name:      s.text(f["name"], key+".name"),
		GPUs:      s.devices(f["gpus"], key+".gpus"),
	}
	if p.Directory == "" {
		s.refuse(node, key+".directory", "is required")
		return p
	}
	if p.Name == "" {
		p.Name = path.Base(p.Directory)
	}
	p.Deadline, p.Notes = s.deadline(s.text(f["deadline"], key+".deadline"))
	folder := path.Join(path.Dir(s.file), p.Directory)
	if folder == ".." || strings.HasPrefix(folder, "../") || path.IsAbs(p.Directory) {
		s.refuse(f["directory"], key+".directory", "%q lies outside what was uploaded", p.Directory)
		return p
	}
	if p.Bundle, p.Err = s.upload.Bundle(folder); p.Err == nil && len(p.GPUs) == 0 {
		p.GPUs = p.Bundle.Definition.GPUs
	}
	if p.Err == nil && len(p.GPUs) == 0 {
		p.Notes = append(p.Notes, "Neither the set nor task.yml names GPUs: choose some, or leave this problem out.")
	}
	return p
}

// deadline reads "2006-01-02 15:04" or "2006-01-02" in UTC. What is missing or unreadable is a
// year from now, as in KernelBot, but said.
func (s *setReader) deadline(text string) (at time.Time, notes []string) {
	if at, err := ParseDeadline(text); err == nil {
		return at, nil
	}
	note := "There is no deadline: a year from now is taken."
	if text != "" {
		note = fmt.Sprintf("The deadline %q is not YYYY-MM-DD or YYYY-MM-DD HH:MM: a year from now is taken.", text)
	}
	return s.now.Add(defaultDeadline).Truncate(time.Minute), []string{note}
}

// ParseDeadline reads "2006-01-02 15:04" or "2006-01-02" (its first moment), in UTC.
func ParseDeadline(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time of the form YYYY-MM-DD or YYYY-MM-DD HH:MM", text)
}
