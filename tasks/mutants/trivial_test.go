package mutants

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"warpboard/tasks"
)

// TestAnswersThatComputeNothingHaveTheSolutionsForm checks that trivial outputs have the structure of the solution's
// outputs.
func TestAnswersThatComputeNothingHaveTheSolutionsForm(t *testing.T) {
	const solution = `import numpy
def custom_kernel(data):
    x, more = data
    x += 1
    return {"sum": x + more["y"], "all": (x.sum(), None), "few": x[:2] * 2}
`
	const print = `
import numpy
print(custom_kernel((numpy.array([1.0, 2, 3]), {"y": numpy.array([7.0, 8, 9])})))
`
	for name, want := range map[string]string{
		"zeros":                    "{'sum': array([0., 0., 0.]), 'all': (0.0, None), 'few': array([0., 0.])}",
		"a copy of an input":       "{'sum': array([1., 2., 3.]), 'all': (0.0, None), 'few': None}",
		"the mean of all elements": "{'sum': array([11., 11., 11.]), 'all': (0.0, None), 'few': array([5., 5.])}",
	} {
		for _, kind := range TrivialAnswers() {
			if kind.Name != name {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c",
				string(kind.ReplaceOutputs(tasks.Submission{Source: []byte(solution)}).Source)+print)
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			if got := strings.ReplaceAll(strings.TrimSpace(string(out)), "np.float64(0.0)", "0.0"); err != nil ||
				got != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", name, err, out, want)
			}
		}
	}
}
