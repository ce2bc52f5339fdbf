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

// ImportOptions configure the conversion of problems to tasks.
type ImportOptions struct {
	// MaxDimension limits the sizes in a problem: a larger size is halved until it is at most MaxDimension, or replaced
	// by a power of two if it becomes odd before. 0 means no limit.
	MaxDimension int
	// Name is the name of the upload; the task gets it if the upload is a single problem.
	Name string
}

// Task is a task folder made from a problem.
type Task struct {
	OriginPath    string            // the problem's file or folder in the upload
	Name          string            // suggested name, different from those of the upload's other tasks
	Files         map[string][]byte // by path in the folder, with task.yml; nil if Err is set
	OmissionNotes []string          // sentences about the parts of the problem that the task omits
	Err           error             // the reason why the problem cannot become a task
}

// ReadProblems returns a task for each problem that it finds in a tree, sorted by path. It ignores files in other
// formats.
func ReadProblems(tree filetree.FileTree, options ImportOptions) []Task {
	r := &problemReader{tree: tree, importOptions: options, textsByPath: map[string][]byte{},
		readErrors: map[string]error{}}
	for _, name := range tree.List(".") {
		switch path.Ext(name) {
		case ".py", ".json", ".jsonl":
			r.read(name)
		}
	}
	list := slices.Concat(r.kernelBench(), r.readTraces(), r.leetGPU())
	slices.SortFunc(list, func(a, b Task) int { return cmp.Compare(a.OriginPath, b.OriginPath) })
	makeNamesUnique(list)
	return list
}

// problemReader reads an upload that may contain problems of other benchmark collections.
type problemReader struct {
	tree          filetree.FileTree
	importOptions ImportOptions
	textsByPath   map[string][]byte // contents of the files, by path
	readErrors    map[string]error  // files that cannot be read, by path
	bytesRead     int               // size of all files read so far
}

// maxReadBytes limits the size of all files that are read for problems, in bytes.
const maxReadBytes = 64 << 20

func (r *problemReader) read(name string) {
	text, err := r.tree.Read(name)
	if r.bytesRead += len(text); r.bytesRead > maxReadBytes {
		err = fmt.Errorf("is not read: the files before it have %s", parse.SizeText(maxReadBytes))
	}
	if err != nil {
		r.readErrors[name] = err
		return
	}
	r.textsByPath[name] = text
}

// makeTask returns the task for the problem at path from; fill writes the files of the problem to the task folder.
func (r *problemReader) makeTask(from string, fill func(*taskFolder) error) Task {
	name := strings.TrimSuffix(path.Base(from), path.Ext(from))
	if from == "." {
		name = r.importOptions.Name
	}
	f := &taskFolder{files: map[string][]byte{}, title: titleFromName(name)}
	err := fill(f)
	task := Task{OriginPath: from, Name: cmp.Or(f.name, name)}
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
	task.OmissionNotes = f.omissionNotes
	return task
}

// makeNamesUnique makes the names of tasks unique: equal names get the path of their folder as a prefix, or a number as
// a suffix.
func makeNamesUnique(list []Task) {
	count := map[string]int{}
	for _, t := range list {
		count[t.Name]++
	}
	taken := map[string]bool{}
	for i, t := range list {
		name := t.Name
		if above := path.Dir(t.OriginPath); count[name] > 1 && above != "." {
			name = strings.ReplaceAll(above, "/", "-") + "-" + name
		}
		for n := 2; taken[filetree.FoldCase(name)]; n++ {
			name = fmt.Sprintf("%s-%d", t.Name, n)
		}
		taken[filetree.FoldCase(name)], list[i].Name = true, name
	}
}
