package tasks

import (
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/parse"
)

// ProblemSet is one file problems/*.yaml: tasks with the names, deadlines, and devices of their boards.
type ProblemSet struct {
	FilePath    string
	Name        string
	Description string
	Deadline    string // of the competition, as written; problems have their own
	Problems    []TaskProposal
}

// defaultDeadline is the time until the deadline of a problem without a valid one.
const defaultDeadline = 365 * 24 * time.Hour

// ProblemSets returns the problem sets of the upload: every .yaml or .yml file with a key problems. A set that cannot
// be read is an error; an invalid problem has an error of its own. Missing deadlines are counted from now.
func (u *Upload) ProblemSets(now time.Time) ([]ProblemSet, error) {
	var sets []ProblemSet
	var found parse.Problems
	for _, name := range u.tree.List(".") {
		if suffix := path.Ext(name); suffix != ".yaml" && suffix != ".yml" || path.Base(name) == TaskFile {
			continue
		}
		set, err := u.problemSet(name, now)
		for _, p := range parse.ProblemsFromError(err) {
			found.Add(p)
		}
		if err != nil && parse.ProblemsFromError(err) == nil {
			return nil, err
		}
		if set != nil {
			sets = append(sets, *set)
		}
	}
	return sets, found.AsError()
}

// problemSet reads one set. It returns nil for other YAML files, valid or not, such as workflows and settings; only
// files in a folder "problems" must be valid.
func (u *Upload) problemSet(file string, now time.Time) (*ProblemSet, error) {
	data, err := u.tree.Read(file)
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
	s := &problemSetReader{yamlReader: yamlReader{file: file}, upload: u, currentTime: now.UTC()}
	set := s.readSet(root)
	return set, s.problems.AsError()
}

func hasKey(node *yaml.Node, key string) bool {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return true
		}
	}
	return false
}

type problemSetReader struct {
	yamlReader
	upload      *Upload
	currentTime time.Time
}

func (s *problemSetReader) readSet(root *yaml.Node) *ProblemSet {
	f := s.readMapping(root, "", "name", "description", "deadline", "problems")
	set := &ProblemSet{
		FilePath: s.file, Name: s.readScalar(f["name"], "name"), Description: s.readScalar(f["description"],
			"description"),
		Deadline: s.readScalar(f["deadline"], "deadline"),
	}
	if set.Name == "" {
		set.Name = nameWithoutSuffix(s.file)
	}
	for i, item := range s.readItems(f["problems"], "problems") {
		set.Problems = append(set.Problems, s.readProblem(item, indexedKey("problems", i)))
	}
	return set
}

func (s *problemSetReader) readProblem(node *yaml.Node, key string) TaskProposal {
	f := s.readMapping(node, key, "directory", "name", "deadline", "gpus")
	directory := s.readScalar(f["directory"], key+".directory")
	p := TaskProposal{
		Folder: path.Join(path.Dir(s.file), directory),
		Name:   s.readScalar(f["name"], key+".name"),
		GPUs:   s.readDevices(f["gpus"], key+".gpus"),
	}
	if directory == "" {
		s.addProblem(node, key+".directory", "is required")
		return p
	}
	if p.Name == "" {
		p.Name = path.Base(directory)
	}
	s.readDeadline(&p, s.readScalar(f["deadline"], key+".deadline"))
	if p.Folder == ".." || strings.HasPrefix(p.Folder, "../") || path.IsAbs(directory) {
		s.addProblem(f["directory"], key+".directory", "%q lies outside the folder or zip that holds the problem set", directory)
		return p
	}
	if p.Bundle, p.Err = s.upload.ReadBundle(p.Folder); p.Err == nil && len(p.GPUs) == 0 {
		p.GPUs = p.Bundle.Definition.GPUs
	}
	if p.Err == nil && len(p.GPUs) == 0 {
		p.Notes = append(p.Notes, "Neither the set nor task.yml names GPUs: choose some, or leave this problem out.")
	}
	return p
}

// readDeadline reads the deadline of a problem. If it is missing or invalid, a new task gets one after defaultDeadline,
// as in KernelBot, and a note.
func (s *problemSetReader) readDeadline(p *TaskProposal, text string) {
	at, err := ParseDeadline(text)
	if err == nil {
		p.Deadline = at
		return
	}
	note := "No deadline is given: a new task closes one year from now, a published one keeps its deadline."
	if text != "" {
		note = fmt.Sprintf("The deadline %v: a new task closes one year from now, a published one keeps its deadline.", err)
	}
	p.Deadline, p.HasAssumedDeadline, p.Notes = s.currentTime.Add(defaultDeadline).Truncate(time.Minute), true, []string{note}
}

// deadlineLayouts are the formats of a deadline, which is in UTC unless it has another offset.
var deadlineLayouts = []string{"2006-01-02 15:04", time.DateTime, time.DateOnly, time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"}

// ParseDeadline parses "2006-01-02 15:04" with or without seconds, "2006-01-02" for the start of that day, all in UTC,
// or RFC 3339.
func ParseDeadline(text string) (time.Time, error) {
	for _, layout := range deadlineLayouts {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2030-01-31, 2030-01-31 18:00 or 2030-01-31T18:00:00Z", text)
}

// TaskProposal is one task that importing an upload would create.
type TaskProposal struct {
	Folder             string    // path of the task folder in the upload
	Name               string    // name of the task
	Bundle             *Bundle   // nil if Err is set
	Deadline           time.Time // UTC; zero if there is none
	HasAssumedDeadline bool      // the upload has no deadline, and a year from now is assumed
	GPUs               []string  // from the problem set, or else the task; empty if neither names any
	Notes              []string  // assumptions, and the OmissionNotes of an imported task
	Err                error     // reason why the task cannot be created
}

// Proposals returns the tasks of the upload: those of its problem sets; without a set, those of its task folders or its
// one reference file; without these, those made from problems of other benchmark collections. Missing deadlines are
// counted from now. An invalid task has an error of its own; if all tasks are invalid, Proposals returns Problems as
// its error.
func (u *Upload) Proposals(now time.Time) ([]TaskProposal, error) {
	list, err := u.proposals(now)
	if err != nil {
		return nil, err
	}
	var found parse.Problems
	for _, p := range list {
		if p.Err == nil {
			return list, nil
		}
		for _, problem := range parse.ProblemsFromError(p.Err) {
			found.Add(problem)
		}
		if parse.ProblemsFromError(p.Err) == nil {
			found.Add(parse.Problem{File: p.Folder, Message: p.Err.Error()})
		}
	}
	if len(found) == 0 {
		found.Add(parse.Problem{Message: fmt.Sprintf("there is no %s: a task is a folder that holds one", TaskFile)})
	}
	return nil, found
}

func (u *Upload) proposals(now time.Time) ([]TaskProposal, error) {
	if u.referenceFile != "" {
		return []TaskProposal{u.referenceProposal()}, nil
	}
	var list []TaskProposal
	for _, task := range u.importedTasks {
		p := TaskProposal{Folder: task.Name, Name: task.Name, Notes: task.OmissionNotes, Err: task.Err}
		if p.Err == nil {
			p.Bundle, p.Err = u.ReadBundle(task.Name)
		}
		list = append(list, p)
	}
	if len(list) > 0 {
		return list, nil
	}
	if u.onlyFolder == "" {
		sets, err := u.ProblemSets(now)
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			list = append(list, set.Problems...)
		}
		if len(sets) > 0 {
			return list, nil
		}
	}
	for _, folder := range u.Folders() {
		p := TaskProposal{Folder: folder, Name: u.taskName(folder)}
		if p.Bundle, p.Err = u.ReadBundle(folder); p.Err == nil {
			p.GPUs = p.Bundle.Definition.GPUs
		}
		list = append(list, p)
	}
	return list, nil
}

func (u *Upload) referenceProposal() TaskProposal {
	p := TaskProposal{Folder: ".", Name: nameWithoutSuffix(u.referenceFile)}
	data, err := u.tree.Read(u.referenceFile)
	if err != nil {
		p.Err = err
		return p
	}
	p.Bundle, p.Err = TaskFromReference(u.referenceFile, data, nil)
	return p
}
