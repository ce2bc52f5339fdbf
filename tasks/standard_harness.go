package tasks

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// WithWarpboardHarness returns a copy of a bundle with its own eval program, changed to use the harness of Warpboard.
// It returns an error if the bundle lacks files or functions that this harness needs. Scores of the two harnesses are
// not comparable (package changes reports this).
func (b *Bundle) WithWarpboardHarness() (*Bundle, error) {
	if b.Definition.Protocol == ProtocolLegacy || !b.Definition.HasOwnHarness {
		return nil, fmt.Errorf("%s runs with Warpboard's harness already", b.Name)
	}
	def := b.Definition
	if def.MultiGPU {
		return nil, fmt.Errorf("%s runs on several GPUs: its checker sees one rank, and Warpboard's harness gives it the inputs and outputs of all", b.Name)
	}
	isEval := func(name string) bool {
		return nameWithoutSuffix(name) == evalProgramName || name == def.Config.MainFile
	}
	def.Files = slices.DeleteFunc(slices.Clone(def.Files), func(f File) bool { return isEval(f.Name) })
	def.Config.Sources = slices.DeleteFunc(slices.Clone(def.Config.Sources), isEval)
	def.Config.MainFile = ""
	def.HasOwnHarness = false
	for _, name := range standardFiles(def.Lang) {
		if !def.hasFile(name) {
			return nil, fmt.Errorf("%s has no file %q, which Warpboard's harness needs", b.Name, name)
		}
	}
	out := &Bundle{Name: b.Name, Definition: def, Files: map[string][]byte{}, Warnings: b.Warnings}
	for _, f := range def.Files {
		if !f.IsSubmission() {
			out.Files[f.Source] = b.Files[f.Source]
		}
	}
	for _, name := range def.Templates {
		out.Files[name] = b.Files[name]
	}
	for name, data := range b.Files {
		if isCommonExtra(name) {
			out.Files[name] = data
		}
	}
	for _, name := range def.Baselines {
		out.Files[name] = b.Files[name]
	}
	if def.Validation != nil {
		out.Files[def.Validation.Script] = b.Files[def.Validation.Script]
	}
	if err := out.checkStandardFunctions(); err != nil {
		return nil, err
	}
	out.keepAuthorText(b)
	return out, nil
}

var harnessLinePattern = regexp.MustCompile(`(?m)^harness:[^#\n]*?([ \t]*(?:#.*)?)$`)

// keepAuthorText keeps the text of task.yml that the author wrote, with one value changed. The eval program then stays
// in the bundle, because the text names it. If the value cannot be changed in the text, the text is written from the
// definition.
func (b *Bundle) keepAuthorText(from *Bundle) {
	text, ok := from.Files[TaskFile]
	if !ok {
		return
	}
	if harnessLinePattern.Match(text) {
		text = harnessLinePattern.ReplaceAll(text, []byte("harness: "+warpboardHarnessValue+"$1"))
	} else {
		text = slices.Concat(bytes.TrimRight(text, "\n"), []byte("\nharness: "+warpboardHarnessValue+"\n"))
	}
	if TopLevelText(text, "harness") != warpboardHarnessValue {
		return
	}
	b.Files = maps.Clone(from.Files)
	b.Files[TaskFile] = text
}

// checkStandardFunctions returns an error if the reference lacks functions that the harness of Warpboard calls.
func (b *Bundle) checkStandardFunctions() error {
	if missing := b.missingFunctions(); len(missing) > 0 {
		return fmt.Errorf("%s: %s, which Warpboard's harness calls", b.Name, missing[0])
	}
	return nil
}

// missingFunctions returns the functions that the harness of Warpboard calls and whose names are not in the text of the
// reference; none if the reference includes another file completely. It is only for a warning: a name in a comment
// counts, and the first run shows the truth.
func (b *Bundle) missingFunctions() (missing []string) {
	for _, f := range b.Definition.Files {
		text := b.Files[f.Source]
		if nameWithoutSuffix(f.Name) != "reference" || f.IsSubmission() || importsTaskFile(text) {
			continue
		}
		check := "check_implementation"
		if b.Definition.Tolerance != nil && !b.hasChecker() {
			check = "ref_kernel"
		}
		for _, function := range []string{"generate_input", check} {
			if !regexp.MustCompile(`\b` + function + `\b`).Match(text) {
				missing = append(missing, fmt.Sprintf("%s has no %s", f.Source, function))
			}
		}
	}
	return missing
}

// hasChecker reports whether the name of a checker is in the text of the reference.
func (b *Bundle) hasChecker() bool {
	return slices.ContainsFunc(b.Definition.Files, func(f File) bool {
		return nameWithoutSuffix(f.Name) == "reference" && !f.IsSubmission() && bytes.Contains(b.Files[f.Source], []byte("check_implementation"))
	})
}

// wholeImportPattern matches a statement that includes all names of another file: an include, or a star import.
var wholeImportPattern = regexp.MustCompile(`(?m)^\s*(?:#\s*include\s+"([^"]+)"|from\s+(\S+)\s+import\s+\*)`)

// importsTaskFile reports whether a reference includes all names of another file of the task.
func importsTaskFile(text []byte) bool {
	return slices.ContainsFunc(wholeImportPattern.FindAllSubmatch(text, -1), func(found [][]byte) bool {
		return !slices.Contains([]string{"task.h", "utils.h", "task", "utils"}, string(found[1])+string(found[2]))
	})
}
