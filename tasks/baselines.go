package tasks

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
)

// maxBaselines limits the baselines of one task that the site runs on each device.
const maxBaselines = 8

// labelPattern matches the names of baselines and the labels of templates.
var labelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$`)

const labelRules = "has at most 40 letters, digits, spaces and . _ + -, and begins with a letter or digit"

// readBaselines reads the key baselines: submissions that the site runs itself for comparison. It returns their paths
// by name.
func (r *taskReader) readBaselines(node *yaml.Node) map[string]string {
	var out map[string]string
	for name, value := range r.mappingPairs(node, "baselines") {
		at := joinKey("baselines", name.Value)
		switch {
		case !labelPattern.MatchString(name.Value):
			r.addProblem(name, at, "a baseline's name %s", labelRules)
			continue
		case len(out) == maxBaselines:
			r.addProblem(name, at, "is one baseline too many: at most %d are run", maxBaselines)
			return out
		}
		source := r.readScalar(value, at)
		if source == "" || source == SubmissionSource {
			r.addProblem(value, at, "must be the path of a file in the archive")
			continue
		}
		inside := r.addSourceFile(value, at, source)
		if data, ok := r.bundle.Files[inside]; ok {
			if err := CheckSubmission(Submission{Source: data}); err != nil {
				r.addProblem(value, at, "%v", err)
			}
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name.Value] = inside
	}
	return out
}

// addSolutions adds the folder of solutions to the bundle, if it fits, so that an exported task is complete.
func (r *taskReader) addSolutions() {
	for _, verdict := range []string{"correct", "wrong"} {
		at := path.Join(solutionsDir, verdict)
		for _, name := range r.tree.List(path.Join(r.dir, at)) {
			if isSolutionPath(name) {
				r.addSourceFile(nil, solutionsDir, path.Join(at, name))
			}
		}
	}
}

// Solutions returns the bundle's own submissions, which must pass or must fail.
func (b *Bundle) Solutions() []Solution {
	upload := &Upload{tree: filetree.MemoryTree(b.Files)}
	list, _ := upload.Solutions(".") // cannot fail: a bundle's files are in memory
	return list
}

// WithoutSolutions returns a copy for submitters, without the solutions and without task.yml. A solution stays if it is
// also a template or a file that the task runs: the task would break without it, and submitters can see it anyway.
func (b *Bundle) WithoutSolutions() *Bundle {
	out := *b
	out.Files = maps.Clone(b.Files)
	needed := map[string]bool{}
	for _, f := range b.Definition.Files {
		needed[f.Source] = true
	}
	for _, name := range b.Definition.Templates {
		needed[name] = true
	}
	for _, name := range b.Definition.Baselines {
		if !needed[name] {
			delete(out.Files, name)
		}
	}
	maps.DeleteFunc(out.Files, func(name string, _ []byte) bool { return strings.HasPrefix(name, solutionsDir+"/") && !needed[name] })
	delete(out.Files, TaskFile) // task.yml names the solutions, and its comments may reveal more
	out.Definition.Baselines = nil
	return &out
}
