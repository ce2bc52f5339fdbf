package tasks

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
	"warpboard/tasks/parse"
)

const (
	maxFilePatterns = 16
	maxFileName     = 64
)

var (
	additionalFileName    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	additionalFilePattern = regexp.MustCompile(`^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$`)
)

var (
	headerSuffixes         = []string{".h", ".hpp", ".hh", ".cuh", ".inl"}
	sourceSuffixes         = []string{".cpp", ".cc", ".cxx"}
	additionalFileSuffixes = map[Lang][]string{
		LangCPP:    slices.Concat([]string{".h", ".hpp", ".hh", ".inl"}, sourceSuffixes),
		LangCUDA:   slices.Concat(headerSuffixes, []string{".cu"}, sourceSuffixes),
		LangPython: slices.Concat([]string{".py", ".cu"}, headerSuffixes, sourceSuffixes),
	}
)

// reservedFileNames are names, without suffix, that the programs of Warpboard have or look for, in addition to names
// that begin with "warpboard".
var reservedFileNames = []string{evalProgramName, "reference", "utils", "warm"}

// reservedModules are modules that the programs of Warpboard import in the process of the submission. A file with one
// of these names would shadow the module.
var reservedModules = []string{
	"array", "ast", "atexit", "base64", "bisect", "builtins", "collections", "contextlib", "copy", "ctypes", "cupy", "cutlass", "dataclasses", "enum", "errno", "faulthandler", "fcntl", "functools",
	"gc", "hashlib", "importlib", "inspect", "io", "itertools", "json", "linecache", "logging", "marshal", "math", "mmap", "multiprocessing", "numpy", "operator", "os",
	"pathlib", "pickle", "platform", "queue", "random", "re", "resource", "secrets", "select", "shutil", "signal", "site", "sitecustomize", "socket", "statistics", "string",
	"struct", "submission", "subprocess", "sys", "tarfile", "task", "tempfile", "threading", "time", "torch", "traceback", "train", "triton", "types", "typing", "usercustomize", "warnings", "weakref",
}

// isCompiledFile reports whether a file is compiled; others are only included.
func isCompiledFile(lang Lang, name string) bool {
	suffix := path.Ext(name)
	return slices.Contains(sourceSuffixes, suffix) && lang != LangPython || suffix == ".cu" && lang == LangCUDA
}

// readSubmissionFiles reads the names of the additional files that a submission may have.
func (r *taskReader) readSubmissionFiles(node *yaml.Node) []string {
	patterns := r.readTexts(node, "submission_files")
	if len(patterns) > maxFilePatterns {
		r.addProblem(node, "submission_files", "has %d names; at most %d are allowed", len(patterns), maxFilePatterns)
		return nil
	}
	def := &r.bundle.Definition
	if len(patterns) > 0 && def.HasOwnHarness && def.Lang == LangPython {
		r.addProblem(node, "submission_files", "a Python task with an eval program of its own takes no further files: one could stand in for a module that the program imports")
		return nil
	}
	taken := r.bundle.ownersOfTakenNames(patterns)
	for i, pattern := range patterns {
		at, item := indexedKey("submission_files", i), node.Content[i]
		switch {
		// Another problem was reported for this item.
		case item.Kind != yaml.ScalarNode || pattern == "" || def.Lang == "":
		case !additionalFilePattern.MatchString(pattern) || len(pattern) > maxFileName:
			r.addProblem(item, at, "%q is not a file name or pattern: at most %d letters, digits and _ - . *, without folders", pattern, maxFileName)
		case !slices.Contains(additionalFileSuffixes[def.Lang], path.Ext(pattern)):
			r.addProblem(item, at, "%q must end in one of %s", pattern,
				strings.Join(additionalFileSuffixes[def.Lang], ", "))
		case !strings.Contains(pattern, "*"):
			if why := taken[pattern]; why != "" {
				r.addProblem(item, at, "%q %s: a submission cannot bring it", pattern, why)
			}
		}
	}
	return patterns
}

// refusedFileName returns the reason why no task may allow an additional file with a name; "" if it may.
func refusedFileName(name string) string {
	switch {
	case len(name) > maxFileName:
		return fmt.Sprintf("has a name of more than %d characters", maxFileName)
	case !additionalFileName.MatchString(name):
		return "has a name that is not a plain file name: letters, digits and _ - . without folders, and not a dot or hyphen first"
	}
	return ""
}

// CheckFiles returns a Problem if a submission to the task may not have files with these names.
func (b *Bundle) CheckFiles(names []string) error {
	allowed := b.Definition.SubmissionFiles
	seen, taken := map[string]string{}, b.ownersOfTakenNames(names)
	for _, name := range names {
		why := refusedFileName(name)
		switch {
		case why != "":
		case len(allowed) == 0:
			return parse.Problem{Message: fmt.Sprintf("the task takes one file, and %q is another one", name)}
		case !b.Definition.matchesPattern(name):
			why = fmt.Sprintf("is not one that the task takes beside the main one: %s", strings.Join(allowed, ", "))
		case seen[filetree.FoldCase(name)] != "":
			why = fmt.Sprintf("and %q differ in case alone", seen[filetree.FoldCase(name)])
		default:
			why = taken[name]
		}
		if why != "" {
			return parse.Problem{Message: fmt.Sprintf("the file %q %s", name, why)}
		}
		seen[filetree.FoldCase(name)] = name
	}
	return nil
}

func (d Definition) matchesPattern(name string) bool {
	return slices.Contains(additionalFileSuffixes[d.Lang], path.Ext(name)) && slices.ContainsFunc(d.SubmissionFiles, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// AllowsSubmittedFile reports whether the definition of the task allows a submission to have a file with this name.
func (d Definition) AllowsSubmittedFile(name string) bool {
	return d.matchesPattern(name) && d.ownerOfName(name) == ""
}

// ownersOfTakenNames returns the names that are already used, each with the end of an error message such as "has the
// name of a file of the task": an additional file must not shadow a file of the task or of the harness, or a file that
// one of these includes or imports. It finds includes and imports by patterns in the text, and does not search included
// files. It reads the files of the task once for all names, because they may be large.
func (b *Bundle) ownersOfTakenNames(names []string) map[string]string {
	// free has the names not found yet, by their lower-case form.
	taken, free := map[string]string{}, map[string][]string{}
	for _, name := range names {
		if why := b.Definition.ownerOfName(name); why != "" {
			taken[name] = why
		} else {
			free[filetree.FoldCase(name)] = append(free[filetree.FoldCase(name)], name)
		}
	}
	for _, f := range b.Definition.Files {
		for line := range bytes.Lines(b.Files[f.Source]) {
			for _, read := range importedFiles(line) {
				for _, name := range free[filetree.FoldCase(read)] {
					taken[name] = fmt.Sprintf("has the name of what %s of the task includes or imports", f.Name)
				}
			}
		}
	}
	return taken
}

// ownerOfName returns the owner of a name that is reserved for all tasks; "" if it is free.
func (d Definition) ownerOfName(name string) string {
	if slices.ContainsFunc(d.Files, func(f File) bool { return filetree.FoldCase(path.Base(f.Name)) == filetree.FoldCase(name) }) {
		return "has the name of a file of the task"
	}
	if d.Validation != nil && filetree.FoldCase(d.Validation.scriptName()) == filetree.FoldCase(name) {
		return "has the name of the task's validation script"
	}
	module := filetree.FoldCase(nameWithoutSuffix(name))
	if strings.HasPrefix(module, "warpboard") || slices.Contains(reservedFileNames, module) {
		return "has the name of a file of Warpboard's harness"
	}
	if path.Ext(name) == ".py" && slices.Contains(reservedModules, module) {
		return "has the name of a module that Warpboard's harness imports"
	}
	return ""
}

// importedFiles returns the files that a line of C++ or Python includes or imports, without folders.
func importedFiles(line []byte) []string {
	line = bytes.TrimSpace(line)
	if rest, ok := bytes.CutPrefix(line, []byte("#")); ok {
		return includedFiles(bytes.TrimSpace(rest))
	}
	word, rest, _ := bytes.Cut(bytes.ReplaceAll(line, []byte("\t"), []byte(" ")), []byte(" "))
	switch string(word) {
	case "import":
		return moduleFiles(bytes.Split(rest, []byte(",")))
	case "from":
		return moduleFiles([][]byte{rest})
	}
	return nil
}

func includedFiles(directive []byte) []string {
	rest, ok := bytes.CutPrefix(directive, []byte("include"))
	if rest = bytes.TrimSpace(rest); !ok || len(rest) == 0 || rest[0] != '"' && rest[0] != '<' {
		return nil
	}
	end := bytes.IndexAny(rest[1:], "\">")
	if end < 0 {
		return nil
	}
	return []string{path.Base(string(rest[1 : end+1]))}
}

func moduleFiles(named [][]byte) (files []string) {
	for _, one := range named {
		one = bytes.TrimSpace(one)
		if end := bytes.IndexAny(one, ". \t;#"); end >= 0 {
			one = one[:end]
		}
		files = append(files, string(one)+".py")
	}
	return files
}
