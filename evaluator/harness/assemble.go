package harness

import (
	"encoding/json"
	"maps"
	"slices"

	"warpboard/tasks"
)

// CompileInput is one source file to compile.
type CompileInput struct {
	FileName string
	// HasSubmission marks a file that contains the submission, so that its object belongs to one submission. Other
	// files belong to the task and are compiled without the submission.
	HasSubmission bool
	// IsJudge marks the only file of the judge's program. The other files belong to the runner's.
	IsJudge bool
}

// SourceSet has the sources of a run's program: the task's files, the submission, and the harness.
type SourceSet struct {
	Files          map[string][]byte // contents, by the name that the file has while the program runs
	SubmittedFiles []string          // names of the submission's files
	ToCompile      []CompileInput    // cu, cpp: files to compile, in link order
	MainScript     string            // py: the script to start; it is the judge's if RunnerScript is set
	RunnerScript   string            // py: the script of the submission's process; empty if one process does everything
	// HasSeparateJudge means that judge and runner are separate programs, and that files without HasSubmission compile
	// without the submission. For a bundle's own harness this is unknown before compiling.
	HasSeparateJudge bool
}

const runnerScript = "warpboard_runner.py"

// AssembleSources combines a task's sources with Warpboard's harness, unless the bundle has its own harness. sources
// has the content of each file of def.Files, including those of the submission.
func AssembleSources(def tasks.Definition, sources map[string][]byte) SourceSet {
	l := SourceSet{Files: map[string][]byte{}, MainScript: def.Config.MainFile}
	maps.Copy(l.Files, sources)
	for _, f := range def.Files {
		if f.IsSubmission() {
			l.SubmittedFiles = append(l.SubmittedFiles, f.Name)
		}
	}
	switch {
	case def.Protocol == tasks.ProtocolLegacy:
		l.addLegacyHarness(def)
	case def.HasOwnHarness:
		l.addToCompile(def.Config.Sources)
	default:
		l.addHarness(def)
	}
	return l
}

// addLegacyHarness adds the harness of the legacy format. The judge's program includes the reference; the runner's only
// file includes the reference and the submission.
func (l *SourceSet) addLegacyHarness(def tasks.Definition) {
	maps.Copy(l.Files, Sources(def.Protocol, def.Lang))
	if def.Lang == tasks.LangPython {
		l.MainScript, l.RunnerScript = "warpboard_legacy.py", runnerScript
	} else {
		l.HasSeparateJudge = true
		l.ToCompile = []CompileInput{{FileName: "eval." + string(def.Lang), IsJudge: true}, {FileName: "warpboard_runner." + string(def.Lang), HasSubmission: true}}
	}
}

// addHarness replaces the eval program of a bundle, and for C++ also its utils.h. A Python bundle's utils.py remains,
// because its reference may use it.
func (l *SourceSet) addHarness(def tasks.Definition) {
	for name := range l.Files {
		if isEvalFile(name) {
			delete(l.Files, name)
		}
	}
	for name, text := range Sources(def.Protocol, def.Lang) {
		if _, own := l.Files[name]; own && name == "utils.py" {
			continue
		}
		l.Files[name] = text
	}
	if def.Lang == tasks.LangPython {
		l.MainScript, l.RunnerScript = "warpboard_judge.py", runnerScript
		// Marshaling numbers that were parsed cannot fail.
		if text, err := json.Marshal(def.Tolerance); err == nil && def.Tolerance != nil {
			l.Files["warpboard_tolerance.json"] = text
		}
		if def.AllowSetup {
			l.Files["warpboard_setup"] = []byte("true\n")
		}
		return
	}
	l.HasSeparateJudge = true
	l.ToCompile = []CompileInput{{FileName: "eval." + string(def.Lang), IsJudge: true}, {FileName: "warpboard_runner." + string(def.Lang)}}
	if len(def.Config.Sources) == 0 {
		l.addToCompile(l.SubmittedFiles)
	}
	l.addToCompile(def.Config.Sources)
}

func (l *SourceSet) addToCompile(names []string) {
	for _, name := range names {
		if !(l.HasSeparateJudge && isEvalFile(name)) {
			l.ToCompile = append(l.ToCompile, CompileInput{FileName: name,
				HasSubmission: slices.Contains(l.SubmittedFiles, name)})
		}
	}
}

// TaskFiles returns the files except those of the submission.
func (l SourceSet) TaskFiles() map[string][]byte {
	files := maps.Clone(l.Files)
	for _, name := range l.SubmittedFiles {
		delete(files, name)
	}
	return files
}

func isEvalFile(name string) bool {
	switch name {
	case "eval.py", "eval.cu", "eval.cpp":
		return true
	}
	return false
}
