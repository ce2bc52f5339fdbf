package harness

import (
	"maps"
	"slices"

	"warpboard/tasks"
)

// Unit is one source file that is compiled.
type Unit struct {
	Name string
	// Submitted is true when the submission's text is in it: what comes of it belongs to one
	// submission. Other units are the task's and are compiled without the submission in sight.
	Submitted bool
	// Judge is true for the one unit of the judge's program; the others make the runner's.
	Judge bool
}

// SourceSet is everything that a run's program is made of: the task's files, the submission and the
// harness that measures it.
type SourceSet struct {
	Files     map[string][]byte // by run-time name
	Submitted []string          // names of those that hold the submission
	Units     []Unit            // cu, cpp: what is compiled, in link order
	Main      string            // py: the script to start; with a runner, the judge's script
	Runner    string            // py: the script of the submission's own process; empty where one process does all
	// Separable says that judge and runner are separate programs, and that the units that are not Submitted compile without
	// the submission. For a bundle's own harness only an attempt shows that.
	Separable bool
}

const runnerScript = "warpboard_runner.py"

// Assemble puts a task's sources and, unless the bundle brings its own, Warpboard's harness together.
// Sources holds the text of every file of def.Files, the submission's included.
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
		l.addUnits(def.Config.Sources)
	default:
		l.addHarness(def)
	}
	return l
}

// addLegacyHarness: the reference is included by the judge, and with the submission by the runner's one unit.
func (l *SourceSet) addLegacyHarness(def tasks.Definition) {
	maps.Copy(l.Files, Sources(def.Form, def.Lang))
	if def.Lang == tasks.LangPython {
		l.Main, l.Runner = "warpboard_legacy.py", runnerScript
	} else {
		l.Separable = true
		l.Units = []Unit{{Name: "eval." + string(def.Lang), Judge: true}, {Name: "warpboard_runner." + string(def.Lang), Submitted: true}}
	}
}

// addHarness replaces a bundle's eval program, if it has one, and for C++ the utils.h that goes with
// it. A Python bundle's utils.py stays, for its reference may use anything in it.
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
		return
	}
	l.Separable = true
	l.Units = []Unit{{Name: "eval." + string(def.Lang), Judge: true}, {Name: "warpboard_runner." + string(def.Lang)}}
	if len(def.Config.Sources) == 0 {
		l.addUnits(l.Submitted)
	}
	l.addUnits(def.Config.Sources)
}

func (l *SourceSet) addUnits(names []string) {
	for _, name := range names {
		if !(l.Separable && isEval(name)) {
			l.Units = append(l.Units, Unit{Name: name, Submitted: slices.Contains(l.Submitted, name)})
		}
	}
}

// TaskFiles returns the files without the submission.
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
