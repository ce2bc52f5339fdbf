package harness

import (
	"encoding/json"
	"maps"
	"slices"

	"warpboard/tasks"
)

// CompileInput is one source file to compile.
type CompileInput struct {
	Name string
	// Submitted marks a file that contains the submission, so that its object belongs to one submission. Other files
	// belong to the task and are compiled without the submission.
	Submitted bool
	// Judge marks the only file of the judge's program. The other files belong to the runner's.
	Judge bool
}

// SourceSet has the sources of a run's program: the task's files, the submission, and the harness.
type SourceSet struct {
	Files     map[string][]byte // by run-time name
	Submitted []string          // names of the submission's files
	ToCompile []CompileInput    // cu, cpp: files to compile, in link order
	Main      string            // py: the script to start; the judge's if there is a runner
	Runner    string            // py: the script of the submission's process; empty if one process does everything
	// Separable means that judge and runner are separate programs, and that files without Submitted compile without the
	// submission. For a bundle's own harness this is unknown before compiling.
	Separable bool
}

const runnerScript = "warpboard_runner.py"

// Assemble combines a task's sources with Warpboard's harness, unless the bundle has its own harness. sources has the
// content of each file of def.Files, including those of the submission.
func Assemble(def tasks.Definition, sources map[string][]byte) SourceSet {
	l := SourceSet{Files: map[string][]byte{}, Main: def.Config.Main}
	maps.Copy(l.Files, sources)
	for _, f := range def.Files {
		if f.IsSubmission() {
			l.Submitted = append(l.Submitted, f.Name)
		}
	}
	switch {
	case def.Form == tasks.FormLegacy:
		l.addLegacyHarness(def)
	case def.OwnHarness:
		l.addToCompile(def.Config.Sources)
	default:
		l.addHarness(def)
	}
	return l
}

// addLegacyHarness adds the harness of the legacy format. The judge's program includes the reference; the runner's only
// file includes the reference and the submission.
func (l *SourceSet) addLegacyHarness(def tasks.Definition) {
	maps.Copy(l.Files, Sources(def.Form, def.Lang))
	if def.Lang == tasks.LangPython {
		l.Main, l.Runner = "warpboard_legacy.py", runnerScript
	} else {
		l.Separable = true
		l.ToCompile = []CompileInput{{Name: "eval." + string(def.Lang), Judge: true}, {Name: "warpboard_runner." + string(def.Lang), Submitted: true}}
	}
}

// addHarness replaces the eval program of a bundle, and for C++ also its utils.h. A Python bundle's utils.py remains,
// because its reference may use it.
func (l *SourceSet) addHarness(def tasks.Definition) {
	for name := range l.Files {
		if isEval(name) {
			delete(l.Files, name)
		}
	}
	for name, text := range Sources(def.Form, def.Lang) {
		if _, own := l.Files[name]; own && name == "utils.py" {
			continue
		}
		l.Files[name] = text
	}
	if def.Lang == tasks.LangPython {
		l.Main, l.Runner = "warpboard_judge.py", runnerScript
		// Marshaling numbers that were parsed cannot fail.
		if text, err := json.Marshal(def.Tolerance); err == nil && def.Tolerance != nil {
			l.Files["warpboard_tolerance.json"] = text
		}
		if def.Setup {
			l.Files["warpboard_setup"] = []byte("true\n")
		}
		return
	}
	l.Separable = true
	l.ToCompile = []CompileInput{{Name: "eval." + string(def.Lang), Judge: true}, {Name: "warpboard_runner." + string(def.Lang)}}
	if len(def.Config.Sources) == 0 {
		l.addToCompile(l.Submitted)
	}
	l.addToCompile(def.Config.Sources)
}

func (l *SourceSet) addToCompile(names []string) {
	for _, name := range names {
		if !(l.Separable && isEval(name)) {
			l.ToCompile = append(l.ToCompile, CompileInput{Name: name, Submitted: slices.Contains(l.Submitted, name)})
		}
	}
}

// TaskFiles returns the files except those of the submission.
func (l SourceSet) TaskFiles() map[string][]byte {
	files := maps.Clone(l.Files)
	for _, name := range l.Submitted {
		delete(files, name)
	}
	return files
}

func isEval(name string) bool {
	switch name {
	case "eval.py", "eval.cu", "eval.cpp":
		return true
	}
	return false
}
