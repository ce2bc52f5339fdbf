package evaluator_test

import (
	"maps"
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// withFiles adds further submitted files to a job, in the form in which the site sends them.
func withFiles(j job.Job, files map[string]string) job.Job {
	j.Sources = maps.Clone(j.Sources)
	var names []string
	for name, text := range files {
		names = append(names, name)
		j.Sources[name] = []byte(text)
	}
	j.Task = j.Task.WithFiles(names)
	return j
}

// TestAPythonSubmissionImportsItsFurtherFiles also checks that the syntax of each file is tested by the build, and that
// the judge cannot import them.
func TestAPythonSubmissionImportsItsFurtherFiles(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	const main = "import rows\ncustom_kernel = rows.softmax\n"
	const rows = `import os
import numpy as np

assert os.path.exists("submission.py"), "the judge imports a further file"

def softmax(data):
    x, out = data
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    out[:] = powers / powers.sum(axis=1, keepdims=True)
    return out
`
	j := withFiles(example(t, "softmax_numpy", "imports", job.ModeRanked, []byte(main)), map[string]string{"rows.py": rows})
	j.Task.Benchmarks = j.Task.Benchmarks[:1]
	r := s.run(j)
	wantStages(t, r, "build pass", "test pass", "ranked pass")
	if r.ScoreNS == nil {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	r = s.run(withFiles(example(t, "softmax_numpy", "broken", job.ModeTest, []byte(main)),
		map[string]string{"rows.py": "def softmax(data:\n"}))
	wantStages(t, r, "build error")
	if !strings.Contains(r.Stages[0].Stderr, `File "rows.py", line 1`) {
		t.Errorf("the build says %q", r.Stages[0].Stderr)
	}
}
