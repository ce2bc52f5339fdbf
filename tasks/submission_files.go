package tasks

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
	"warpboard/tasks/problems"
)

const (
	maxFilePatterns = 16
	maxFileName     = 64
)

var (
	furtherName    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	furtherPattern = regexp.MustCompile(`^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$`)

	includes = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)
	imports  = regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(\w+(?:[\w. \t,]*\w)?))`)
)

var (
	headerSuffixes  = []string{".h", ".hpp", ".hh", ".cuh", ".inl"}
	sourceSuffixes  = []string{".cpp", ".cc", ".cxx"}
	furtherSuffixes = map[Lang][]string{
		LangCPP:    slices.Concat([]string{".h", ".hpp", ".hh", ".inl"}, sourceSuffixes),
		LangCUDA:   slices.Concat(headerSuffixes, []string{".cu"}, sourceSuffixes),
		LangPython: slices.Concat([]string{".py", ".cu"}, headerSuffixes, sourceSuffixes),
	}
)

// Names that Warpboard's programs have or look for, without suffix, beside those that begin with "warpboard".
var harnessStems = []string{evalStem, "reference", "utils", "warm"}

// Modules that Warpboard's programs import in the submission's process, and with which a file of that name would be mistaken.
var harnessModules = []string{
	"array", "ast", "atexit", "base64", "bisect", "builtins", "collections", "contextlib", "copy", "ctypes", "cupy", "cutlass", "dataclasses", "enum", "errno", "faulthandler", "fcntl", "functools",
	"gc", "hashlib", "importlib", "inspect", "io", "itertools", "json", "linecache", "logging", "marshal", "math", "mmap", "multiprocessing", "numpy", "operator", "os",
	"pathlib", "pickle", "platform", "queue", "random", "re", "resource", "secrets", "select", "shutil", "signal", "site", "sitecustomize", "socket", "statistics", "string",
	"struct", "submission", "subprocess", "sys", "tarfile", "task", "tempfile", "threading", "time", "torch", "traceback", "train", "triton", "types", "typing", "usercustomize", "warnings", "weakref",
}

// SubmissionSuffixes are those that a further file of a submission may have, in a language.
func SubmissionSuffixes(lang Lang) []string { return furtherSuffixes[lang] }

// compiled reports whether a compiler is given the file; others are included.
func compiled(lang Lang, name string) bool {
	suffix := path.Ext(name)
	return slices.Contains(sourceSuffixes, suffix) && lang != LangPython || suffix == ".cu" && lang == LangCUDA
}

// submissionFiles reads which further files a submission may bring.
func (r *taskReader) submissionFiles(node *yaml.Node) []string {
	patterns := r.texts(node, "submission_files")
	if len(patterns) > maxFilePatterns {
		r.refuse(node, "submission_files", "has %d names; at most %d are allowed", len(patterns), maxFilePatterns)
		return nil
	}
	def := &r.bundle.Definition
	if len(patterns) > 0 && def.OwnHarness && def.Lang == LangPython {
		r.refuse(node, "submission_files", "a Python task with an eval program of its own takes no further files: one could stand in for a module that the program imports")
		return nil
	}
	for i, pattern := range patterns {
		at, item := index("submission_files", i), node.Content[i]
		switch {
		case item.Kind != yaml.ScalarNode || pattern == "" || def.Lang == "": // refused already
		case !furtherPattern.MatchString(pattern) || len(pattern) > maxFileName:
			r.refuse(item, at, "%q is not a file name or pattern: at most %d letters, digits and _ - . *, without folders", pattern, maxFileName)
		case !slices.Contains(furtherSuffixes[def.Lang], path.Ext(pattern)):
			r.refuse(item, at, "%q must end in one of %s", pattern, strings.Join(furtherSuffixes[def.Lang], ", "))
		case !strings.Contains(pattern, "*"):
			if why := r.bundle.takenName(pattern); why != "" {
				r.refuse(item, at, "%q %s: a submission cannot bring it", pattern, why)
			}
		}
	}
	return patterns
}

// refusedFileName says why a further file cannot have this name in any task, or "".
func refusedFileName(name string) string {
	switch {
	case len(name) > maxFileName:
		return fmt.Sprintf("has a name of more than %d characters", maxFileName)
	case !furtherName.MatchString(name):
		return "has a name that is not a plain file name: letters, digits and _ - . without folders, and not a dot or hyphen first"
	}
	return ""
}

// CheckFiles says why a submission to the task cannot bring files of these names, as a Problem.
func (b *Bundle) CheckFiles(names []string) error {
	allowed := b.Definition.SubmissionFiles
	seen := map[string]string{}
	for _, name := range names {
		why := refusedFileName(name)
		switch {
		case why != "":
		case len(allowed) == 0:
			return problems.Problem{Message: fmt.Sprintf("the task takes one file, and %q is another one", name)}
		case !b.Definition.allowsFile(name):
			why = fmt.Sprintf("is not one that the task takes beside the main one: %s", strings.Join(allowed, ", "))
		case seen[filetree.Fold(name)] != "":
			why = fmt.Sprintf("and %q differ in case alone", seen[filetree.Fold(name)])
		default:
			why = b.takenName(name)
		}
		if why != "" {
			return problems.Problem{Message: fmt.Sprintf("the file %q %s", name, why)}
		}
		seen[filetree.Fold(name)] = name
	}
	return nil
}

func (d Definition) allowsFile(name string) bool {
	return slices.Contains(furtherSuffixes[d.Lang], path.Ext(name)) && slices.ContainsFunc(d.SubmissionFiles, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// MayBring reports whether a file of this name can be one that a submission brought, as far as the task's definition tells.
func (d Definition) MayBring(name string) bool {
	return d.allowsFile(name) && (&Bundle{Definition: d}).takenName(name) == ""
}

// takenName says whose name this is already, or "": no further file may shadow one of the task or of the harness, nor
// what these include or import.
// Weakness: includes and imports are found by patterns in the text, and what they themselves include is not looked at.
func (b *Bundle) takenName(name string) string {
	isName := func(other string) bool { return filetree.Fold(path.Base(other)) == filetree.Fold(name) }
	if slices.ContainsFunc(b.Definition.Files, func(f File) bool { return isName(f.Name) }) {
		return "has the name of a file of the task"
	}
	module := filetree.Fold(stem(name))
	if strings.HasPrefix(module, "warpboard") || slices.Contains(harnessStems, module) {
		return "has the name of a file of Warpboard's harness"
	}
	python := path.Ext(name) == ".py"
	if python && slices.Contains(harnessModules, module) {
		return "has the name of a module that Warpboard's harness imports"
	}
	for _, f := range b.Definition.Files {
		text := b.Files[f.Source]
		if !python && slices.ContainsFunc(submatches(includes, text), isName) || python && slices.Contains(importedBy(text), module) {
			return fmt.Sprintf("has the name of what %s of the task includes or imports", f.Name)
		}
	}
	return ""
}

func submatches(pattern *regexp.Regexp, text []byte) (found []string) {
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		found = append(found, string(m[1]))
	}
	return found
}

// importedBy are the modules that a text of Python names in its imports: their first parts, folded.
func importedBy(text []byte) (modules []string) {
	for _, m := range imports.FindAllSubmatch(text, -1) {
		modules = append(modules, filetree.Fold(string(m[1])))
		for one := range strings.SplitSeq(string(m[2]), ",") {
			first, _, _ := strings.Cut(strings.TrimSpace(one), " ")
			first, _, _ = strings.Cut(first, ".")
			modules = append(modules, filetree.Fold(first))
		}
	}
	return modules
}
