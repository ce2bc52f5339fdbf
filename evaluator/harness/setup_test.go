package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/tasks"
)

// pythonPair writes the programs of a judge and a runner of a Python task, and returns their paths.
func pythonPair(t *testing.T, def tasks.Definition, reference, submission string) (judge, runner string) {
	t.Helper()
	def.Protocol, def.Lang = tasks.ProtocolEval, tasks.LangPython
	def.Files = []tasks.File{{Name: "reference.py", Source: "reference.py"}, {Name: "submission.py", Source: tasks.SubmissionSource}}
	l := AssembleSources(def, map[string][]byte{"reference.py": []byte(reference), "submission.py": []byte(submission)})
	dir := t.TempDir()
	writeAll(t, dir, l.Files)
	writeAll(t, dir, map[string][]byte{"libwarpboard_core.so": pairtest.BuildCore(t, CoreSources())})
	program := func(name, script string) string {
		path := filepath.Join(t.TempDir(), name)
		text := fmt.Sprintf("#!/bin/sh\ncd %s && exec %s -B %s \"$@\"\n", dir, debianPython, script)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return program("judge", l.MainScript), program("runner", l.RunnerScript)
}

const doubling = "import numpy as np\ndef generate_input(n, seed):\n    return np.random.default_rng(seed).standard_normal(n)\ndef ref_kernel(x):\n    return 2 * x\n"

func TestASetupIsTimedApartFromTheCallsOfItsCase(t *testing.T) {
	slow := "import numpy as np, time\ndef setup(meta):\n    time.sleep(0.05)\n    return np.empty(meta['shape'], meta['dtype'])\n" +
		"def custom_kernel(x, state):\n    return np.multiply(x, 2, out=state)\n"
	def := tasks.Definition{AllowSetup: true, Tolerance: &tasks.Tolerances{}}
	judge, runner := pythonPair(t, def, doubling, slow)
	r := pairtest.Run(t, judge, runner, "benchmark", "n: 100; seed: 1\nn: 200; seed: 2\n")
	p := parseReport(r.Report)
	if cases := p.Cases(); p.Verdict() != "pass" || len(cases) != 2 || cases[0].SetupNS < 50e6 || cases[1].SetupNS < 50e6 || cases[0].Best > 50e6 {
		t.Errorf("%s: %+v\n%s%s", p.Verdict(), cases, r.Errors, r.Stderr)
	}
	denied := "import time, warpboard_setup\ndef denies(self, data):\n    if type(data) is tuple:\n        time.sleep(0.05)\n        return False\n" +
		"    return 2 * data\nwarpboard_setup.Prepared.__call__ = denies\ndef custom_kernel(x):\n    return 2 * x\n"
	judge, runner = pythonPair(t, def, doubling, denied)
	p = parseReport(pairtest.Run(t, judge, runner, "test", "n: 100; seed: 1\n").Report)
	if cases := p.Cases(); p.Verdict() != "pass" || cases[0].SetupNS < 50e6 {
		t.Errorf("a setup that the submission's process denies: %s, %+v", p.Verdict(), cases)
	}
	def.AllowSetup = false
	judge, runner = pythonPair(t, def, doubling, "def setup(meta):\n    raise ValueError\ndef custom_kernel(x):\n    return 2 * x\n")
	p = parseReport(pairtest.Run(t, judge, runner, "test", "n: 100; seed: 1\n").Report)
	if cases := p.Cases(); p.Verdict() != "pass" || cases[0].SetupNS != 0 {
		t.Errorf("a setup that is not allowed: %s, %+v", p.Verdict(), cases)
	}
}
