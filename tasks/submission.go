package tasks

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpboard/tasks/filetree"
	"warpboard/tasks/parse"
)

// Submission has the files that a person submits to a task: the text for SubmissionSource, and additional files, if the
// task allows them.
type Submission struct {
	Source []byte
	Files  map[string][]byte // additional files by name; nil for none
}

// MaxSubmissionFiles limits the additional files of a submission.
const MaxSubmissionFiles = 16

// packedPrefix is the prefix of a packed submission with several files. Other submissions must not begin with it.
// Stored sources and hashes depend on it. It begins with a zero byte, which no source that compiles contains.
const packedPrefix = "\x00files\n"

// Pack returns the submission as one text, which is equal only for equal submissions. Without additional files it is
// the source. Otherwise it is packedPrefix and, for each file, a line with name and size and then the text:
// SubmissionSource first, the others sorted by name.
func (s Submission) Pack() []byte {
	if len(s.Files) == 0 {
		return s.Source
	}
	var text bytes.Buffer
	text.WriteString(packedPrefix)
	add := func(name string, data []byte) {
		fmt.Fprintf(&text, "%s %d\n", name, len(data))
		text.Write(data)
	}
	add(SubmissionSource, s.Source)
	for _, name := range s.Names() {
		add(name, s.Files[name])
	}
	return text.Bytes()
}

// UnpackSubmission returns the submission for a text that Pack returned.
func UnpackSubmission(text []byte) (s Submission, err error) {
	rest, several := bytes.CutPrefix(text, []byte(packedPrefix))
	if !several {
		return Submission{Source: text}, nil
	}
	s.Files = map[string][]byte{}
	for len(rest) > 0 {
		head, data, ok := bytes.Cut(rest, []byte("\n"))
		name, count, _ := strings.Cut(string(head), " ")
		// The text is a result of Pack in the store of the site. It is still checked, because a damaged row must not
		// make a page panic.
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 0 || n > len(data) {
			return s, fmt.Errorf("a submission of several files breaks off at %.80q", head)
		}
		if rest = data[n:]; name == SubmissionSource {
			s.Source = data[:n:n]
		} else {
			s.Files[name] = data[:n:n]
		}
	}
	return s, nil
}

// Zip returns the submission as a zip archive, with main as the name of the main file.
func (s Submission) Zip(main string) ([]byte, error) {
	var archive bytes.Buffer
	zw := zip.NewWriter(&archive)
	err := writeEntry(zw, main, s.Source)
	for _, name := range s.Names() {
		if err == nil {
			err = writeEntry(zw, name, s.Files[name])
		}
	}
	if err == nil {
		err = zw.Close()
	}
	return archive.Bytes(), err
}

// UnzipSubmission returns the files of a zipped submission by name. They are all at the top level, or all in one
// folder.
func UnzipSubmission(data []byte) (map[string][]byte, error) {
	found, err := filetree.UnzipTree(bytes.NewReader(data), int64(len(data)), filetree.Limits{
		MaxFiles: MaxSubmissionFiles + 1,
		MaxFile:  MaxSubmission,
		MaxTotal: MaxSubmission,
	})
	if err != nil {
		return nil, err
	}
	files, folder, first := map[string][]byte{}, "", true
	for name, text := range found {
		if dir := path.Dir(name); first {
			folder, first = dir, false
		} else if dir != folder {
			return nil, parse.Problem{Message: "its files lie in more than one folder"}
		}
		files[path.Base(name)] = text
	}
	if first {
		return nil, parse.Problem{Message: "it holds no file"}
	}
	return files, nil
}

// FindMainFile finds the main file of a submission: the one with SubmissionName, or the only one that SubmissionFiles
// does not allow. The error is a Problem.
func (d Definition) FindMainFile(files map[string][]byte) (main string, s Submission, err error) {
	var others []string
	for name := range files {
		if !d.matchesPattern(name) {
			others = append(others, name)
		}
	}
	if _, there := files[d.SubmissionName()]; there {
		main = d.SubmissionName()
	} else if len(others) == 1 {
		main = others[0]
	} else if len(d.SubmissionFiles) == 0 {
		return "", s, parse.Problem{Message: fmt.Sprintf("the task takes one file, and these are %d", len(files))}
	} else {
		return "", s, parse.Problem{Message: fmt.Sprintf("which of them is the main one? Call it %s", d.SubmissionName())}
	}
	s.Source, s.Files = files[main], maps.Clone(files)
	delete(s.Files, main)
	return main, s, nil
}

// Names returns the sorted names of the additional files.
func (s Submission) Names() []string { return slices.Sorted(maps.Keys(s.Files)) }

// NamesOfBoth returns the sorted names of the additional files of two submissions together.
func (s Submission) NamesOfBoth(other Submission) []string {
	return slices.Compact(slices.Sorted(slices.Values(append(s.Names(), other.Names()...))))
}

// SubmissionFromTexts returns a submission from texts; files are the additional ones by name.
func SubmissionFromTexts(source string, files map[string]string) Submission {
	s := Submission{Source: []byte(source)}
	for name, text := range files {
		s.add(name, []byte(text))
	}
	return s
}

// FileTexts returns the additional files as texts by name; nil if there are none.
func (s Submission) FileTexts() map[string]string {
	if len(s.Files) == 0 {
		return nil
	}
	texts := make(map[string]string, len(s.Files))
	for name, data := range s.Files {
		texts[name] = string(data)
	}
	return texts
}

// ReadSubmission reads the files of a submission, the main one first; the additional ones are named without folders.
// Files for which file returns nil are omitted; without the main file, all are. A file that is not UTF-8 is a Problem.
func ReadSubmission(paths []string, file func(path string) ([]byte, error)) (s Submission, err error) {
	read := func(path string) ([]byte, error) {
		text, err := file(path)
		if err == nil {
			err = CheckText(path, text)
		}
		return text, err
	}
	if s.Source, err = read(paths[0]); err != nil || s.Source == nil {
		return s, err
	}
	for _, file := range paths[1:] {
		text, err := read(file)
		if err != nil {
			return s, err
		}
		name := filepath.Base(file)
		if _, twice := s.Files[name]; twice {
			return s, parse.Problem{Message: fmt.Sprintf("two of the further files are called %s: a submission has no folders", name)}
		}
		if text != nil {
			s.add(name, text)
		}
	}
	return s, nil
}

func (s *Submission) add(name string, text []byte) {
	if s.Files == nil {
		s.Files = map[string][]byte{}
	}
	s.Files[name] = text
}

// Size returns the total size of all files in bytes.
func (s Submission) Size() int {
	size := len(s.Source)
	for _, data := range s.Files {
		size += len(data)
	}
	return size
}

// CheckSubmission returns a Problem if a submission is invalid for any task.
func CheckSubmission(s Submission) error {
	switch {
	case len(s.Source) == 0:
		return parse.Problem{Message: "the submission is empty"}
	case s.Size() > MaxSubmission:
		if len(s.Files) > 0 {
			return parse.Problem{Message: fmt.Sprintf("the files come to %d bytes together, and a submission may have %d", s.Size(), MaxSubmission)}
		}
		return parse.Problem{Message: fmt.Sprintf("the submission is larger than %d MB", MaxSubmission/1_000_000)}
	case CheckText("", s.Source) != nil:
		return CheckText("", s.Source)
	case bytes.HasPrefix(s.Source, []byte(packedPrefix)):
		return parse.Problem{Message: "the submission begins with what marks several files in one text"}
	case len(s.Files) > MaxSubmissionFiles:
		return parse.Problem{Message: fmt.Sprintf("it brings %d further files, and %d are the most", len(s.Files), MaxSubmissionFiles)}
	}
	for _, name := range s.Names() {
		if why := refusedFileName(name); why != "" {
			return parse.Problem{Message: fmt.Sprintf("the file %q %s", name, why)}
		}
		if err := CheckText(name, s.Files[name]); err != nil {
			return err
		}
	}
	return nil
}

// ProgramFiles returns the text of every file of a program by its name at run time, including the submission. It
// returns an error if the bundle lacks a file, or if the submission is invalid. It does not call CheckFiles: accepted
// files are measured again even if the task now allows fewer.
func (b *Bundle) ProgramFiles(s Submission) (map[string][]byte, error) {
	if err := CheckSubmission(s); err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(b.Definition.Files)+len(s.Files))
	for _, f := range b.Definition.Files {
		if f.IsSubmission() {
			out[f.Name] = s.Source
			continue
		}
		data, ok := b.Files[f.Source]
		if !ok {
			return nil, fmt.Errorf("the task %s lacks its file %q", b.Name, f.Source)
		}
		out[f.Name] = data
	}
	for name, data := range s.Files {
		if _, taken := out[name]; taken {
			return nil, parse.Problem{Message: fmt.Sprintf("the file %q has the name of a file of the task", name)}
		}
		out[name] = data
	}
	return out, nil
}

// WithFiles returns the definition for workers, with names as additional files of a submission: compiled files are
// added to config.sources, so that any worker can build the program.
func (d Definition) WithFiles(names []string) Definition {
	d.SubmissionFiles = nil
	if len(names) == 0 {
		return d
	}
	sources := d.Config.Sources
	if len(sources) == 0 && d.Lang != LangPython {
		sources = submissionNames(d.Files)
	}
	d.Config.Sources = slices.Clone(sources)
	var further []File
	for _, name := range names {
		further = append(further, File{Name: name, Source: SubmissionSource})
		if isCompiledFile(d.Lang, name) {
			d.Config.Sources = append(d.Config.Sources, name)
		}
	}
	// The main file is last: if several files compile a Python extension, its extension is used.
	d.Files = append(further, d.Files...)
	return d
}
