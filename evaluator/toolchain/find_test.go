package toolchain

import (
	"errors"
	"fmt"
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
	found.RecordSoftware(tasks.LangPython, &m)
	found.RecordSoftware(tasks.LangCPP, &m)
	if m.Python != found.Python.Version || m.CompilerVersion != found.GPP.Version {
		t.Errorf("described as %+v", m)
	}
}

func TestPackagesHaveNormalizedNamesAndALimit(t *testing.T) {
	dir := t.TempDir()
	add := func(name, version string) {
		info := filepath.Join(dir, fmt.Sprintf("%.20s-%.20s.dist-info", name, version))
		text := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
		if err := errors.Join(os.Mkdir(info, 0o755), os.WriteFile(filepath.Join(info, "METADATA"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	add("NVIDIA_Cutlass.DSL", "4.1")
	add(strings.Repeat("n", 101), "1")
	add("wordy", strings.Repeat("1", 51))
	if err := os.Mkdir(filepath.Join(dir, "broken-1.dist-info"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 1200 {
		add(fmt.Sprintf("a%04d", i), "1")
	}
	t.Setenv("PYTHONPATH", dir)
	found := probePython(t.Context(), "/usr/bin/python3").Packages
	if len(found) != 1000 || found["numpy"] == "" || found["wordy"] != "" || found["a0000"] != "1" {
		t.Errorf("%d packages: %v", len(found), found)
	}
	for i := range 1200 {
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprintf("a%04d-1.dist-info", i))); err != nil {
			t.Fatal(err)
		}
	}
	if found = probePython(t.Context(), "/usr/bin/python3").Packages; found["nvidia-cutlass-dsl"] != "4.1" {
		t.Errorf("%v", found)
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
	b.cfg.Toolchain = Toolchain{}
	for _, j := range []job.Job{cppJob(t, "correct.cpp"), pyJob(t, "correct.py")} {
		if a, _, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu()}); err == nil || a != nil {
			t.Errorf("%s: built without a toolchain", j.Task.Lang)
		}
	}
}
