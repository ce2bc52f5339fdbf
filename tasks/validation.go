package tasks

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
)

// ValidationScript has the script of a task that runs submissions in an application. It runs on request, for entries of
// a closed board, and does not affect ranks.
type ValidationScript struct {
	Version string `json:"version"` // the author's version of the script
	Script  string `json:"script"`  // path in the bundle
}

// maxValidationVersionBytes limits the bytes of the version, which boards show.
const maxValidationVersionBytes = 40

// readValidation reads the key validation. Only Python tasks have one: the script imports the submission as a module.
func (r *taskReader) readValidation(node *yaml.Node) *ValidationScript {
	const key = "validation"
	def := r.bundle.Definition
	if node == nil {
		return nil
	}
	if def.Lang == LangCUDA || def.Lang == LangCPP {
		r.ignoredKeyWarnings = append(r.ignoredKeyWarnings, "The key validation is not used: its script can import submissions in Python, and this task has others. Put such checks into tests.")
		return nil
	}
	f := r.readMapping(node, key, knownKeys(key, "")...)
	v := ValidationScript{Version: strings.TrimSpace(r.readScalar(f["version"], key+".version"))}
	if n := len(v.Version); node.Kind == yaml.MappingNode && (n == 0 || n > maxValidationVersionBytes || strings.ContainsFunc(v.Version, unicode.IsControl)) {
		r.addProblem(node, key+".version", "is required: one line of at most %d bytes that names this edition of the script", maxValidationVersionBytes)
	}
	source := r.readScalar(f["script"], key+".script")
	if source == "" || source == SubmissionSource || path.Ext(source) != ".py" {
		r.addProblem(node, key+".script", "is required: the path of a Python file in the archive")
		return &v
	}
	v.Script = r.addSourceFile(f["script"], key+".script", source)
	other := func(file File) bool {
		return filetree.FoldCase(file.Name) == filetree.FoldCase(v.scriptName()) && file.Source != v.Script
	}
	if slices.ContainsFunc(def.Files, other) {
		r.addProblem(f["script"], key+".script", "%q has the name of another entry of files", v.scriptName())
	}
	return &v
}

// scriptName returns the name of the script at run time.
func (v ValidationScript) scriptName() string { return path.Base(v.Script) }

// WithValidationScript returns the task with its validation script as the program beside a submission. ValidationScript
// must not be nil.
func (b *Bundle) WithValidationScript() *Bundle {
	out := *b
	d := &out.Definition
	name := d.Validation.scriptName()
	if !d.hasFile(name) {
		d.Files = append(slices.Clone(d.Files), File{Name: name, Source: d.Validation.Script})
	}
	d.Config.MainFile, d.HasOwnHarness, d.RequiresCleanSanitizerRun = name, true, false
	return &out
}
