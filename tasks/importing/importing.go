package importing

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"warpboard/tasks/filetree"
	"warpboard/tasks/parse"
)

// Options configure the conversion of problems to tasks.
type Options struct {
	// MaxSize limits sizes: a larger one is halved until it is at most MaxSize, or replaced by a power of two. 0: no
	// limit
	MaxSize int
	// Name is the name of the upload; the task gets it if the upload is a single problem.
	Name string
}

// Task is a task folder made from a problem.
type Task struct {
	Origin string            // the problem's file or folder in the upload
	Name   string            // suggested name, different from those of the upload's other tasks
	Files  map[string][]byte // by path in the folder, with task.yml; nil if Err is set
	Notes  []string          // what the task lacks of the problem, as sentences
	Err    error             // the reason why the problem cannot become a task
}

// Read returns a task for each problem in a tree, sorted by path; none if no problem has a known form.
func Read(tree filetree.Tree, options Options) []Task {
	r := &reader{tree: tree, options: options, texts: map[string][]byte{}, failed: map[string]error{}}
	for _, name := range tree.List(".") {
		switch path.Ext(name) {
		case ".py", ".json", ".jsonl":
			r.read(name)
		}
	}
	list := slices.Concat(r.kernelBench(), r.traces(), r.leetGPU())
	slices.SortFunc(list, func(a, b Task) int { return cmp.Compare(a.Origin, b.Origin) })
	makeNamesUnique(list)
	return list
}

// reader reads an upload that may contain problems of other benchmark collections.
type reader struct {
	tree    filetree.Tree
	options Options
	texts   map[string][]byte // by path
	failed  map[string]error  // files that cannot be read, by path
	size    int               // bytes read
}

// maxReadBytes limits the size of all files that are read for problems, in bytes.
const maxReadBytes = 64 << 20

func (r *reader) read(name string) {
	text, err := r.tree.Read(name)
	if r.size += len(text); r.size > maxReadBytes {
		err = fmt.Errorf("is not read: the files before it have %s", parse.SizeText(maxReadBytes))
	}
	if err != nil {
		r.failed[name] = err
		return
	}
	r.texts[name] = text
}

// makeTask returns the task for the problem at path from; fill writes the files of its folder.
func (r *reader) makeTask(from string, fill func(*folder) error) Task {
	name := strings.TrimSuffix(path.Base(from), path.Ext(from))
	if from == "." {
		name = r.options.Name
	}
	f := &folder{files: map[string][]byte{}, title: titleOf(name)}
	err := fill(f)
	task := Task{Origin: from, Name: cmp.Or(f.name, name)}
	if err == nil {
		task.Files, err = f.addCommonFiles()
	}
	if err != nil {
		var known parse.Problem
		if !errors.As(err, &known) {
			err = parse.Problem{File: from, Message: strings.TrimPrefix(err.Error(), fmt.Sprintf("%q ", from))}
		}
		task.Err, task.Files = err, nil
		return task
	}
	task.Notes = f.notes
	return task
}

// makeNamesUnique makes the names of tasks unique: tasks with the same name get the name of their folder instead, or a
// number at the end.
func makeNamesUnique(list []Task) {
	count := map[string]int{}
	for _, t := range list {
		count[t.Name]++
	}
	taken := map[string]bool{}
	for i, t := range list {
		name := t.Name
		if above := path.Dir(t.Origin); count[name] > 1 && above != "." {
			name = strings.ReplaceAll(above, "/", "-") + "-" + name
		}
		for n := 2; taken[filetree.FoldCase(name)]; n++ {
			name = fmt.Sprintf("%s-%d", t.Name, n)
		}
		taken[filetree.FoldCase(name)], list[i].Name = true, name
	}
}
