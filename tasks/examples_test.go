package tasks_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/harness/pairtest"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func examples(t testing.TB) []*tasks.Bundle {
	t.Helper()
	bundles, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}

func TestBuiltInTasksAreWhole(t *testing.T) {
	want := []string{
		"matmul_cpp", "matmul_cuda", "matmul_torch", "prefixsum_cpp", "prefixsum_cuda", "softmax_numpy",
		"softmax_torch",
		"vectoradd_cpp", "vectoradd_cuda", "vectoradd_torch",
	}
	var got []string
	for _, b := range examples(t) {
		got = append(got, b.Name)
		t.Run(b.Name, func(t *testing.T) { checkWhole(t, b) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("built-in tasks (-want +got):\n%s", diff)
	}
}

func checkWhole(t *testing.T, b *tasks.Bundle) {
	def := b.Definition
	if len(b.Warnings) > 0 {
		t.Errorf("warnings: %q", b.Warnings)
	}
	if def.HasOwnHarness || def.Title == "" || len(def.Tests) < 4 || len(def.Benchmarks) < 3 || len(def.GPUs) == 0 ||
		def.Roofline == nil {
		t.Errorf("the definition lacks something that a built-in task has: %+v", def)
	}
	for _, c := range def.Benchmarks {
		if bytes, flops, err := def.Roofline.BytesAndFlops(c); err != nil || bytes <= 0 || flops <= 0 {
			t.Errorf("roofline of %q: %v bytes, %v flops, %v", c, bytes, flops, err)
		}
	}
	solutions, err := tasks.ExampleSolutions(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, correct := range []bool{true, false} {
		if !slices.ContainsFunc(solutions, func(s tasks.Solution) bool { return s.ShouldPass == correct }) {
			t.Errorf("there is no solution with Correct %v", correct)
		}
	}
	if b.ContentHash() != again(t, b).ContentHash() {
		t.Error("the downloaded task is another one")
	}
}

// TestSolutionsOfCPUTasksEndAsTheyShould runs the test stage of all built-in CPU tasks: templates and correct solutions
// must pass, wrong ones must fail.
func TestSolutionsOfCPUTasksEndAsTheyShould(t *testing.T) {
	core := pairtest.BuildCore(t, harness.CoreSources())
	for _, b := range examples(t) {
		if !slices.Equal(b.Definition.GPUs, []string{"CPU"}) {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			if b.Definition.Lang == tasks.LangCPP && b.Name != "vectoradd_cpp" {
				tier.Needs(t, tier.Judge)
			}
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "libwarpboard_core.so"), string(core))
			for _, s := range submissions(t, b) {
				passed, output := runTests(t, b, dir, s.Source)
				if passed != s.ShouldPass {
					t.Errorf("%s: passed is %v, want %v\n%s", s.Name, passed, s.ShouldPass, output)
				}
			}
		})
	}
}

// submissions returns the solutions of a task and its templates, which must pass.
func submissions(t *testing.T, b *tasks.Bundle) []tasks.Solution {
	t.Helper()
	all, err := tasks.ExampleSolutions(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	for label := range b.Definition.Templates {
		text, _ := b.Template(label)
		all = append(all, tasks.Solution{Name: "template " + label, ShouldPass: true, Source: text})
	}
	return all
}

// runTests runs the test stage with Warpboard's harness and reports whether the check passed.
func runTests(t *testing.T, b *tasks.Bundle, dir string, source []byte) (passed bool, output string) {
	t.Helper()
	sources, err := b.ProgramFiles(tasks.Submission{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	layout := harness.AssembleSources(b.Definition, sources)
	layout.Files["cases.txt"] = harness.CasesFile(b.Definition.Tests)
	for _, name := range slices.Sorted(maps.Keys(layout.Files)) {
		write(t, filepath.Join(dir, name), string(layout.Files[name]))
	}
	if b.Definition.Lang == tasks.LangCPP {
		build(t, dir, layout)
	} else {
		script(t, dir, "judge", layout.MainScript)
		script(t, dir, "program", layout.RunnerScript)
	}
	r := pairtest.Run(t, filepath.Join(dir, "judge"), filepath.Join(dir, "program"), "test",
		string(layout.Files["cases.txt"]))
	return r.Judge.Success() && strings.Contains(r.Report, "check: pass"), r.Report + r.Stdout + r.Stderr
}

// script writes dir/name, a shell script that starts a Python file of dir.
func script(t *testing.T, dir, name, file string) {
	t.Helper()
	path := filepath.Join(dir, name)
	write(t, path, fmt.Sprintf("#!/bin/sh\ncd %s && exec %s -B %s \"$@\"\n", dir, python(t), file))
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// python returns the path of the Python interpreter that a worker would use on this machine.
func python(t *testing.T) string {
	t.Helper()
	found := toolchain.FindToolchain(t.Context()).Python
	if found == nil {
		t.Fatal("there is no python3 on this machine; make test installs it")
	}
	return found.Path
}

// build compiles dir/program with the submission, and dir/judge if it does not exist yet.
func build(t *testing.T, dir string, layout harness.SourceSet) {
	t.Helper()
	link := []string{"-o", filepath.Join(dir, "program")}
	for _, file := range layout.ToCompile {
		if judge := filepath.Join(dir, "judge"); file.IsJudge {
			if _, err := os.Stat(judge); err != nil {
				compile(t, dir, "-std=c++20", "-O3", "-march=native", "-pthread", file.FileName, "-o", judge)
			}
			continue
		}
		object := filepath.Join(dir, file.FileName+".o")
		link = append(link, object)
		if _, err := os.Stat(object); err == nil && !file.HasSubmission {
			continue
		}
		compile(t, dir, "-std=c++20", "-O3", "-march=native", "-pthread", "-c", file.FileName, "-o", object)
	}
	compile(t, dir, link...)
}

func compile(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("g++", args...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("g++ %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// TestPythonOfExamplesParses only parses the Python files of built-in tasks, so it needs no GPU.
func TestPythonOfExamplesParses(t *testing.T) {
	const parse = "import ast, sys; ast.parse(sys.stdin.read())"
	interpreter := python(t)
	for _, b := range examples(t) {
		if b.Definition.Lang != tasks.LangPython {
			continue
		}
		texts := map[string][]byte{}
		for name, text := range b.Files {
			if name != tasks.TaskFile {
				texts[name] = text
			}
		}
		for _, s := range submissions(t, b) {
			texts[s.Name] = s.Source
		}
		for name, text := range texts {
			command := exec.Command(interpreter, "-c", parse)
			command.Stdin = bytes.NewReader(text)
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s of %s: %v\n%s", name, b.Name, err, output)
			}
		}
	}
}
