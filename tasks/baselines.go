package tasks

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/filetree"
)

// maxBaselines bounds the baseline runs of the site for a task, on each device.
const maxBaselines = 8

// labelName matches the names of baselines and the labels of templates.
var labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$`)

const labelLimits = "has at most 40 letters, digits, spaces and . _ + -, and begins with a letter or digit"

// baselines reads the submissions that the site runs to compare with, by name.
func (r *taskReader) baselines(node *yaml.Node) map[string]string {
	var out map[string]string
	for name, value := range r.pairs(node, "baselines") {
		at := join("baselines", name.Value)
		switch {
		case !labelName.MatchString(name.Value):
			r.refuse(name, at, "a baseline's name %s", labelLimits)
			continue
		case len(out) == maxBaselines:
			r.refuse(name, at, "is one baseline too many: at most %d are run", maxBaselines)
			return out
		}
		source := r.text(value, at)
		if source == "" || source == SubmissionSource {
			r.refuse(value, at, "must be the path of a file in the archive")
			continue
		}
		inside := r.load(value, at, source)
		if data, ok := r.bundle.Files[inside]; ok {
			if err := CheckSubmission(Submission{Source: data}); err != nil {
				r.refuse(value, at, "%v", err)
			}
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name.Value] = inside
	}
	return out
}

// solutions takes what lies in the task's folder of solutions into the bundle, where it fits: it comes out of the task
// again as it went in.
func (r *taskReader) solutions() {
	for _, verdict := range []string{"correct", "wrong"} {
		at := path.Join(solutionsDir, verdict)
		for _, name := range r.tree.List(path.Join(r.dir, at)) {
			if isSolution(name) {
				r.load(nil, solutionsDir, path.Join(at, name))
			}
		}
	}
}

// Solutions are the submissions of a known verdict that the bundle keeps.
func (b *Bundle) Solutions() []Solution {
	upload := &Upload{tree: filetree.Memory(b.Files)}
	list, _ := upload.Solutions(".") // a bundle's files can be read
	return list
}

// WithoutSolutions is the task for those who are to solve it: without solutions, and without what is made of them.
// A file that a task runs or hands out stays, wherever it lies: taking it away would break the task. Its author gave that
// away.
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
	delete(out.Files, TaskFile) // it names them, and comments may tell more
	out.Definition.Baselines = nil
	return &out
}
