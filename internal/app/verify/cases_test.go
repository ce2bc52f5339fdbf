package verify

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// formatCase is a task with one solution, and verify-task's expected output for both.
type formatCase struct {
	yaml, files, solution string // solution: verdict, then source; files: "name: text" parts
	verdict               solutionVerdict
	says                  string // part of the expected reason
	stderr                string // part of the expected standard error
}

const (
	// doubling is the start of a reference.py that generates one array; a checker must follow.
	doubling = "reference.py\nimport numpy as np\ndef generate_input(n, seed):\n    return np.random.default_rng(seed).standard_normal(n)\n"
	// beginning is the start of a task.yml; oneCase is its end, with one small test and one small benchmark.
	beginning = "lang: py\ngpus: [CPU]\ndescription: Double each number.\nfiles:\n  - {name: reference.py, source: reference.py}\n" +
		"  - {name: submission.py, source: \"@SUBMISSION@\"}\nranking_by: geom\nranked_budget: 1\n"
	oneCase  = "tests:\n  - {n: 10, seed: 1}\nbenchmarks:\n  - {n: 20, seed: 2}\n"
	twice    = "def custom_kernel(x):\n    return x * 2\n"
	thrice   = "def custom_kernel(x):\n    return x * 3\n"
	computes = "def ref_kernel(x):\n    return x * 2\n"
	sorts    = "def ref_kernel(x):\n    return {'y': np.sort(x), 'at': np.argsort(x)}\n"
	agrees   = "def check_implementation(data, output):\n    return bool(np.allclose(output, data * 2)), 'wrong'\n"
)

// formatCases returns tasks in forms that authors from other systems use, by name.
func formatCases() map[string]formatCase {
	checker := func(body string) string { return doubling + "def check_implementation(data, output):\n" + body }
	return map[string]formatCase{
		// Cases about the outputs of kernels.
		"kind_of_tuple": {files: checker(
			"    a, b = output\n    return bool((a == data * 2).all() and (b == data).all()), 'wrong'\n"),
			solution: "correct: import os\ndef custom_kernel(x):\n    return os.terminal_size((x * 2, x.copy()))\n",
			verdict:  verdictAsExpected},
		"ordered_dict": {files: checker("    return bool((output['y'] == data * 2).all()), 'wrong'\n"),
			solution: "correct: import collections\ndef custom_kernel(x):\n    return collections.OrderedDict(y=x * 2)\n", verdict: verdictAsExpected},
		"data_class": {
			files: "reference.py\nimport dataclasses\nimport numpy as np\n@dataclasses.dataclass(frozen=True)\nclass Answer:\n    y: object\n    n: int = 0\n" +
				"def generate_input(n, seed):\n    return np.random.default_rng(seed).standard_normal(n)\n" +
				"def check_implementation(data, output):\n    return bool(isinstance(output, Answer) and (output.y == data * 2).all() and output.n == len(data)), 'wrong'\n",
			solution: "correct: from reference import Answer\ndef custom_kernel(x):\n    return Answer(x * 2, len(x))\n",
			verdict:  verdictAsExpected,
		},
		"strangers_class": {files: doubling + agrees,
			solution: "wrong: import dataclasses\n@dataclasses.dataclass\nclass Mine:\n    y: object\ndef custom_kernel(x):\n    return Mine(x * 2)\n",
			verdict:  verdictAsExpected, says: "returned an instance of Mine, which is no data class of the task"},
		"written_and_none": {
			files: "reference.py\nimport numpy as np\ndef generate_input(n, seed):\n    x = np.random.default_rng(seed).standard_normal(n)\n    return x, np.empty_like(x)\n" +
				"def check_implementation(data, output):\n    return bool(np.allclose(data[1], data[0] * 2)), 'out was not written'\n",
			solution: "correct: def custom_kernel(data):\n    data[1][:] = data[0] * 2\n",
			verdict:  verdictNotAsExpected,
			says:     "custom_kernel returned None: it must return the answer.",
		},
		"none_that_is_checked": {files: checker("    return bool(np.allclose(output - data, data)), 'wrong'\n"),
			solution: "wrong: def custom_kernel(x):\n    pass\n", verdict: verdictAsExpected,
			says: "custom_kernel returned None: it must return the answer."},
		// Cases about the function check_implementation: what it may return or raise.
		"bool": {files: checker("    return np.allclose(output, data * 2)\n"), solution: "correct: " + twice,
			verdict: verdictAsExpected},
		"numpys_bool": {files: checker("    return (output == data * 2).all()\n"), solution: "correct: " + twice,
			verdict: verdictAsExpected},
		"bool_of_wrong": {files: checker("    return np.allclose(output, data * 2)\n"), solution: "wrong: " + thrice,
			verdict: verdictAsExpected, says: "check_implementation returned False"},
		"asserts": {files: checker("    np.testing.assert_allclose(output, data * 2)\n"),
			solution: "correct: " + twice, verdict: verdictAsExpected},
		"asserts_wrong": {files: checker("    np.testing.assert_allclose(output, data * 2)\n"),
			solution: "wrong: " + thrice, verdict: verdictAsExpected, says: "Not equal to tolerance"},
		"bare_assert": {files: checker("    assert (output == data * 2).all()\n"), solution: "wrong: " + thrice,
			verdict: verdictAsExpected, says: "of reference.py does not hold: assert (output == data * 2).all()"},
		"lines": {files: checker("    return [] if (output == data * 2).all() else ['no', 'not at all']\n"),
			solution: "wrong: " + thrice, verdict: verdictAsExpected, says: "no"},
		"number": {files: checker("    return 1\n"), solution: "correct: " + twice, verdict: verdictNotAsExpected,
			says: "check_implementation returned a int: it must return (bool, message)"},
		// Cases about tolerances in task.yml, without a checker.
		"tolerance": {yaml: beginning + oneCase + "tolerance: {atol: 0.1, rtol: 0}\n", files: doubling + computes,
			solution: "correct: def custom_kernel(x):\n    return x * 2 + 0.09\n", verdict: verdictAsExpected},
		"tolerance_that_is_exceeded": {
			yaml:     beginning + oneCase + "tolerance: {atol: 0.1, rtol: 0, matched: 0.5, max_error: 0.2}\n",
			files:    doubling + computes,
			solution: "wrong: def custom_kernel(x):\n    y = x * 2\n    y[7] += 0.3\n    return y\n",
			verdict:  verdictAsExpected,
			says:     "1 of 10 elements differ. Element 7 is ",
		},
		"tolerances": {
			yaml:     beginning + oneCase + "tolerance: {rtol: 0.1, matched: 0.8}\ntolerances:\n  at: {atol: 1, matched: 1}\n",
			files:    doubling + sorts,
			solution: "correct: import numpy as np\ndef custom_kernel(x):\n    y = np.sort(x)\n    y[:2] = np.nan_to_num(y[0] + 9)\n    return {'at': np.argsort(x) + 1, 'y': y}\n",
			verdict:  verdictAsExpected,
		},
		"tolerances_of_an_unknown_output": {
			yaml:     beginning + oneCase + "tolerances: {att: {atol: 1}}\n",
			files:    doubling + sorts,
			solution: "correct: from reference import ref_kernel as custom_kernel\n",
			verdict:  verdictNotAsExpected,
			says:     "tolerances -> att: the reference gives no output of this name; its outputs are y, at.",
		},
		"nan_in_an_answer": {
			yaml:     beginning + oneCase + "tolerance: {matched: 0.5, equal_nan: true}\n",
			files:    doubling + computes,
			solution: "wrong: def custom_kernel(x):\n    y = x * 2\n    y[3] = float('nan')\n    return y\n",
			verdict:  verdictAsExpected,
			says:     "Element 3 is nan",
		},
		"checker_beside_a_tolerance": {
			yaml:     beginning + oneCase + "tolerance: {atol: 100}\n",
			files:    doubling + computes + agrees,
			solution: "wrong: " + thrice,
			verdict:  verdictAsExpected,
			says:     "wrong",
		},
		// Cases about a setup function, which is not timed.
		"setup": {yaml: beginning + oneCase + "setup: true\n", files: doubling + agrees,
			solution: "correct: import numpy as np\ndef setup(meta):\n    assert list(meta) == ['shape', 'dtype'], meta\n    return np.empty(meta['shape'], meta['dtype'])\n" +
				"def custom_kernel(x, state):\n    assert x.shape == state.shape\n    return np.multiply(x, 2, out=state)\n", verdict: verdictAsExpected},
		"submission_without_a_setup": {
			yaml:     beginning + oneCase + "setup: true\n",
			files:    doubling + agrees,
			solution: "correct: " + twice,
			verdict:  verdictAsExpected,
		},
		"setup_that_is_not_allowed": {files: doubling + agrees,
			solution: "correct: def setup(meta):\n    raise ValueError('called')\n" + twice, verdict: verdictAsExpected},
		"setup_that_raises": {yaml: beginning + oneCase + "setup: true\n", files: doubling + agrees,
			solution: "correct: def setup(meta):\n    raise ValueError('no luck')\n" + twice, verdict: verdictNotAsExpected, stderr: "ValueError: no luck"},
		// Cases about keys of task.yml.
		"quoted_literals": {yaml: beginning +
			"tests:\n  - {n: 10, a: \"1e3\", b: \"None\", c: \"[1, 2]\", d: \"42\", e: 1e-5, seed: 1}\nbenchmarks:\n  - {n: 10, a: \"1e3\", b: \"None\", c: \"[1, 2]\", d: \"42\", e: 1e-5, seed: 2}\n",
			files:    "reference.py\nimport numpy as np\ndef generate_input(n, a, b, c, d, e, seed):\n    assert (a, b, c, d, e) == ('1e3', 'None', '[1, 2]', 42, 1e-5), (a, b, c, d, e)\n    return np.ones(n)\n" + agrees,
			solution: "correct: " + twice, verdict: verdictAsExpected},
		"free_labels": {yaml: beginning + oneCase + "templates: {TileLang: template.py, cuTile 1.4: template.py}\n",
			files:    doubling + agrees + "\x00template.py\n" + twice,
			solution: "correct: " + twice, verdict: verdictAsExpected},
		// Cases about failures.
		"lambda": {files: "reference.py\ndef generate_input(n, seed):\n    return (lambda v: v * 2), n\n" + agrees,
			solution: "correct: " + twice, verdict: verdictNotAsExpected,
			says:   "generate_input made something that cannot be handed over to the kernel's process: Can't pickle",
			stderr: "Can't pickle"},
		"reference_fails": {files: "reference.py\ndef generate_input(n, seed):\n    return [][n]\n" + agrees,
			solution: "correct: " + twice, verdict: verdictNotAsExpected,
			says: "generate_input raised IndexError", stderr: "return [][n]"},
		"raises": {files: doubling + agrees,
			solution: "correct: def custom_kernel(x):\n    raise ValueError('no luck')\n", verdict: verdictNotAsExpected,
			stderr: "ValueError: no luck"},
		"imports": {
			files:    doubling + agrees,
			solution: "correct: import nowhere\n" + twice,
			verdict:  verdictNotAsExpected,
			stderr:   "No module named 'nowhere'",
		},
	}
}

// TestVerifyTaskTakesWhatPeopleWrite verifies all formatCases with one worker.
func TestVerifyTaskTakesWhatPeopleWrite(t *testing.T) {
	tier.Needs(t, tier.Judge)
	tree, cases := t.TempDir(), formatCases()
	for name, c := range cases {
		if c.yaml == "" {
			c.yaml = beginning + oneCase
		}
		writeAt(t, filepath.Join(tree, name, "task.yml"), c.yaml)
		for file := range strings.SplitSeq(c.files, "\x00") {
			file, text, _ := strings.Cut(file, "\n")
			writeAt(t, filepath.Join(tree, name, file), text)
		}
		kind, text, _ := strings.Cut(c.solution, ": ")
		writeAt(t, filepath.Join(tree, name, "solutions", kind, "one.py"), text)
	}
	printed, err := verify(t, tree, "--json")
	var report verifyReport
	if wrong := json.Unmarshal([]byte(printed), &report); wrong != nil || len(report.Tasks) != len(cases) {
		t.Fatalf("%v, %v\n%s", err, wrong, printed)
	}
	for _, task := range report.Tasks {
		c := cases[task.Name]
		if len(task.Solutions) != 1 {
			t.Errorf("%s: %+v", task.Name, task)
			continue
		}
		// A wrong solution that fails by a wrong answer is enough to show that the task works.
		if s := task.Solutions[0]; s.Verdict != c.verdict || !strings.Contains(s.Reason, c.says) ||
			!strings.Contains(s.Stderr, c.stderr) {
			t.Errorf("%s: %s, %s\n%s\nwant %s, %q, %q", task.Name, s.Verdict, s.Reason, s.Stderr, c.verdict, c.says,
				c.stderr)
		}
	}
}

// TestVerifyTaskRefusesATaskWithoutBenchmarks checks that the task is refused before any solution runs.
func TestVerifyTaskRefusesATaskWithoutBenchmarks(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "draft")
	writeAt(t, filepath.Join(folder, "task.yml"), beginning+"tests: [{n: 10, seed: 1}]\nbenchmarks:\n")
	writeAt(t, filepath.Join(folder, "reference.py"), strings.TrimPrefix(doubling+agrees, "reference.py\n"))
	writeAt(t, filepath.Join(folder, "solutions", "correct", "one.py"), twice)
	printed, err := verify(t, folder)
	if err == nil || !strings.Contains(printed, "benchmarks: there is none, so no solution can be ranked") ||
		strings.Contains(printed, "one.py") {
		t.Errorf("%v\n%s", err, printed)
	}
}

// TestVerifyTaskShowsWhatAFailedSolutionPrinted checks that the last lines of output are below the verdict of a
// solution.
func TestVerifyTaskShowsWhatAFailedSolutionPrinted(t *testing.T) {
	tier.Needs(t, tier.Judge)
	folder := quickTask(t)
	writeAt(t, filepath.Join(folder, "solutions", "correct", "by_reference.cpp"),
		"#include \"task.h\"\noutput_t custom_kernel(const input_t& data) { return output_t(data.a.size()); }\n")
	printed, err := verify(t, folder)
	if err == nil || !strings.Contains(printed, "The submission must define output_t custom_kernel(input_t data)") ||
		!strings.Contains(printed, "    | ") {
		t.Errorf("%v\n%s", err, printed)
	}
}

func TestVerifyTaskNamesAnswersThatComputeNothingAndPass(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for checker, want := range map[string]string{
		"    return bool(np.allclose(output, data * 2, atol=100)), 'wrong'\n": "zeros, a copy of an input, the mean of all elements",
		"    return bool(np.allclose(output, data * 2)), 'wrong'\n":           "",
	} {
		folder := filepath.Join(t.TempDir(), "loose")
		writeAt(t, filepath.Join(folder, "task.yml"), beginning+oneCase)
		writeAt(t, filepath.Join(folder, "reference.py"), strings.TrimPrefix(doubling, "reference.py\n")+
			"def check_implementation(data, output):\n"+checker)
		writeAt(t, filepath.Join(folder, "solutions", "correct", "one.py"), twice)
		printed, err := verify(t, folder, "--json")
		var report verifyReport
		if wrong := json.Unmarshal([]byte(printed), &report); wrong != nil || err != nil || len(report.Tasks) != 1 {
			t.Fatalf("%v, %v\n%s", err, wrong, printed)
		}
		// one warning is about missing templates, the others are about trivial answers
		if task := report.Tasks[0]; strings.Join(task.PassingTrivialAnswers, ", ") != want ||
			len(task.Warnings) != 1+len(task.PassingTrivialAnswers) || len(task.Solutions) != 1 {
			t.Errorf("%+v, want %q", task, want)
		}
	}
}
