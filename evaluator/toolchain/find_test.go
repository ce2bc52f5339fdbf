package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

func TestFindSeesThisMachine(t *testing.T) {
	found := tools()
	if found.GPP == nil || !filepath.IsAbs(found.GPP.Path) || !strings.Contains(found.GPP.Version, "g++") {
		t.Errorf("g++: %+v", found.GPP)
	}
	if found.Python == nil || found.Python.Packages["numpy"] == "" || !strings.HasPrefix(found.Python.Version, "3.") {
		t.Fatalf("python3: %+v", found.Python)
	}
	var m job.Machine
	found.Describe(tasks.LangPython, &m)
	found.Describe(tasks.LangCPP, &m)
	if m.Python != found.Python.Version || m.Compiler != found.GPP.Version {
		t.Errorf("described as %+v", m)
	}
}

func TestInterpretersThatOthersCannotReachAreNoUse(t *testing.T) {
	hidden := t.TempDir()
	if err := os.Chmod(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr/bin/python3", filepath.Join(hidden, "python3")); err != nil {
		t.Fatal(err)
	}
	if p := probePython(t.Context(), filepath.Join(hidden, "python3")); p != nil {
		t.Errorf("found %+v", p)
	}
	if p := probePython(t.Context(), "/usr/bin/python3"); p == nil {
		t.Error("/usr/bin/python3 was not found")
	}
}

func TestAMissingCompilerIsAnInfrastructureError(t *testing.T) {
	b := newBuilder()
	b.cfg.Tools = Toolchain{}
	for _, j := range []job.Job{cppJob(t, "correct.cpp"), pyJob(t, "correct.py")} {
		if a, _, err := b.Build(t.Context(), BuildRequest{Job: j, Place: cpu()}); err == nil || a != nil {
			t.Errorf("%s: built without a toolchain", j.Task.Lang)
		}
	}
}
