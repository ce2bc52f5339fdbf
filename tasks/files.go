package tasks

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
	"warpboard/tasks/parse"
)

// readFiles reads the key files of task.yml and loads every source except the submission.
func (r *taskReader) readFiles(node *yaml.Node) []File {
	var out []File
	lines, known := map[string]int{}, knownKeys("files[]", "")
	for i, item := range r.readItems(node, "files") {
		at := indexedKey("files", i)
		f := r.readMapping(item, at, known...)
		if item.Kind != yaml.MappingNode {
			continue
		}
		file := File{Name: r.readScalar(f["name"], at+".name"), Source: r.readScalar(f["source"], at+".source")}
		if why := filetree.RefusedName(file.Name); why != "" {
			r.addProblem(item, at+".name", "the file %s", why)
		} else if first := lines[filetree.FoldCase(file.Name)]; first > 0 {
			r.addProblem(item, at+".name", "%q appears twice (first in line %d)", file.Name, first)
		}
		lines[filetree.FoldCase(file.Name)] = item.Line
		switch {
		case file.Source == "":
			r.addProblem(item, at+".source", "is required: a path, or %q for the submitted code", SubmissionSource)
		case !file.IsSubmission():
			file.Source = r.addSourceFile(f["source"], at+".source", file.Source)
		}
		out = append(out, file)
	}
	if node != nil && !slices.ContainsFunc(out, File.IsSubmission) {
		r.addProblem(node, "files", "no entry has the source %q, so there is nowhere to put the submitted code", SubmissionSource)
	}
	return out
}

// readTemplates reads the templates to download, by label.
func (r *taskReader) readTemplates(node *yaml.Node) map[string]string {
	out := map[string]string{}
	for label, value := range r.mappingPairs(node, "templates") {
		at := joinKey("templates", label.Value)
		if !labelPattern.MatchString(label.Value) {
			r.addProblem(label, at, "a template's label %s", labelRules)
			continue
		}
		source := r.readScalar(value, at)
		if source == "" || source == SubmissionSource {
			r.addProblem(value, at, "must be the path of a file in the archive")
			continue
		}
		out[label.Value] = r.addSourceFile(value, at, source)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// addSourceFile adds the file at source, a path relative to task.yml, to the bundle and returns its path there. It
// distinguishes three paths: source; at, the path in the upload; and inside, the path in the bundle. A file is loaded
// once, however often it is named. "../shared" and a folder "_up/shared" would have the same path inside, which is
// refused.
func (r *taskReader) addSourceFile(node *yaml.Node, key, source string) string {
	inside, at := bundlePath(source), path.Join(r.dir, source)
	if from, known := r.pathInTree[inside]; known && from == at {
		return inside
	} else if known {
		r.addProblem(node, key, "%q and %q would be one file of the task; rename the folder %s", from, at,
			parentDirPrefix)
		return inside
	}
	data, err := r.openSource(source)
	if err != nil {
		r.addProblem(node, key, "%v", err)
		return inside
	}
	r.pathInTree[inside] = at
	if r.storedBytes += int64(len(data)); r.storedBytes > MaxBundle {
		r.addProblem(node, key, "with %q the task's files exceed %s, the limit of one task", source, parse.SizeText(MaxBundle))
		return inside
	}
	r.bundle.Files[inside] = data
	return inside
}

// openSource reads a source that is inside the upload.
func (r *taskReader) openSource(source string) ([]byte, error) {
	at := path.Join(r.dir, source)
	switch {
	case bundlePath(source) == TaskFile:
		return nil, fmt.Errorf("%s itself cannot be one of the task's files", TaskFile)
	case strings.HasPrefix(source, "/"):
		return nil, fmt.Errorf("%q is an absolute path; sources are relative to the folder of %s", source, TaskFile)
	case at == ".." || strings.HasPrefix(at, "../"):
		return nil, fmt.Errorf("%q lies outside the folder or zip that holds the task", source)
	}
	if why := filetree.RefusedName(at); why != "" {
		return nil, fmt.Errorf("%q %s", source, why)
	}
	data, err := r.tree.Read(at)
	// Bundles are sent as JSON and shown on pages, so every file must be UTF-8.
	if err == nil && !utf8.Valid(data) {
		return nil, fmt.Errorf("%q is not UTF-8 text", at)
	}
	return data, err
}

// parentDirPrefix replaces ".." in the paths of a bundle: a file that a task shares with other tasks has the same path
// in every bundle, independent of the position of the task in the upload.
const parentDirPrefix = "_up"

// bundlePath returns the path inside the bundle for a source.
func bundlePath(source string) string {
	clean := path.Clean(source)
	parts := strings.Split(clean, "/")
	for i, part := range parts {
		if part == ".." {
			parts[i] = parentDirPrefix
		}
	}
	return strings.Join(parts, "/")
}

// hasFile reports whether the definition lists a file with this name at run time.
func (d Definition) hasFile(name string) bool {
	return slices.ContainsFunc(d.Files, func(f File) bool { return f.Name == name })
}

// SubmissionName returns the name at run time of the first file that stands for the submission.
func (d Definition) SubmissionName() string {
	for _, f := range d.Files {
		if f.IsSubmission() {
			return f.Name
		}
	}
	return ""
}

// unusedFiles returns the files of the task's folder that task.yml does not use.
func (r *taskReader) unusedFiles() []string {
	var out []string
	for _, name := range r.tree.List(r.dir) {
		if _, used := r.bundle.Files[name]; !used && name != TaskFile && !isCommonExtra(name) {
			out = append(out, name)
		}
	}
	return out
}

// ProjectFile is the name of the file with the settings of a folder of kernels, which `warpboard task pull` writes.
const ProjectFile = "warpboard.toml"

// isCommonExtra reports whether an unused file is so common that it needs no warning.
func isCommonExtra(name string) bool {
	first, _, nested := strings.Cut(name, "/")
	upper := strings.ToUpper(nameWithoutSuffix(name))
	return nested && first == solutionsDir || name == ProjectFile || strings.HasPrefix(path.Base(name), ".") ||
		upper == "README" || upper == "LICENSE" || strings.HasPrefix(nameWithoutSuffix(name), "submission")
}
