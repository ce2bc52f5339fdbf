package tasks_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
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
		"matmul_cpp", "matmul_cuda", "matmul_torch", "prefixsum_cpp", "prefixsum_cuda", "softmax_numpy", "softmax_torch",
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
	if def.OwnHarness || def.Title == "" || len(def.Tests) < 4 || len(def.Benchmarks) < 3 || len(def.GPUs) == 0 || def.Roofline == nil {
		t.Errorf("the definition lacks something that a built-in task has: %+v", def)
	}
	for _, c := range def.Benchmarks {
		if bytes, flops, err := def.Roofline.Eval(c); err != nil || bytes <= 0 || flops <= 0 {
			t.Errorf("roofline of %q: %v bytes, %v flops, %v", c, bytes, flops, err)
		}
	}
	solutions, err := tasks.ExampleSolutions(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, correct := range []bool{true, false} {
		if !slices.ContainsFunc(solutions, func(s tasks.Solution) bool { return s.Correct == correct }) {
			t.Errorf("there is no solution with Correct %v", correct)
		}
	}
	if b.Key() != again(t, b).Key() {
		t.Error("the downloaded task is another one")
	}
}

// The tasks for the CPU are run here as they are on the site: templates and right solutions pass the
// test stage, wrong ones do not.
func TestSolutionsOfCPUTasksEndAsTheyShould(t *testing.T) {
	for _, b := range examples(t) {
		if !slices.Equal(b.Definition.GPUs, []string{"CPU"}) {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, s := range submissions(t, b) {
				passed, output := runTests(t, b, dir, s.Source)
				if passed != s.Correct {
					t.Errorf("%s: passed is %v, want %v\n%s", s.Name, passed, s.Correct, output)
				}
			}
		})
	}
}

// submissions are a task's solutions and its templates, which are right too.
func submissions(t *testing.T, b *tasks.Bundle) []tasks.Solution {
	t.Helper()
	all, err := tasks.ExampleSolutions(b.Name)
	if err != nil {
		t.Fatal(err)
	}
	for label := range b.Definition.Templates {
		text, _ := b.Template(label)
		all = append(all, tasks.Solution{Name: "template " + label, Correct: true, Source: text})
	}
	return all
}

// runTests runs the test stage with Warpboard's harness and tells whether the check passed.
func runTests(t *testing.T, b *tasks.Bundle, dir string, source []byte) (passed bool, output string) {
	t.Helper()
	sources, err := b.Resolve(source)
	if err != nil {
		t.Fatal(err)
	}
	layout := harness.Lay(b.Definition, sources)
	layout.Files["cases.txt"] = harness.CasesFile(b.Definition.Tests)
	for _, name := range slices.Sorted(maps.Keys(layout.Files)) {
		write(t, filepath.Join(dir, name), string(layout.Files[name]))
	}
	program := []string{filepath.Join(dir, "program")}
	if b.Definition.Lang == tasks.LangCPP {
		build(t, dir, layout)
	} else {
		program = []string{python(t), layout.Main}
	}
	wires, err := judge.NewWires()
	if err != nil {
		t.Fatal(err)
	}
	if layout.Runner == "" {
		return follow(t, dir, wires, program, nil)
	}
	return follow(t, dir, wires, program, []string{program[0], layout.Runner})
}

// follow runs a program, with the runner that it judges beside it if there is one, and reads its report.
func follow(t *testing.T, dir string, wires *judge.Wires, program, runner []string) (passed bool, output string) {
	t.Helper()
	report, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	printed := new(lockedBuffer)
	side := func(files []*os.File, argv ...string) judge.Side {
		return func(ctx context.Context, started func()) (sandbox.Outcome, error) {
			command := exec.CommandContext(ctx, argv[0], argv[1:]...)
			command.Dir, command.Stdout, command.Stderr = dir, printed, printed
			command.ExtraFiles = files // from descriptor 3 on
			command.Env = append(os.Environ(), "POPCORN_FD=3", "PYTHONDONTWRITEBYTECODE=1")
			if err := command.Start(); err != nil {
				return sandbox.Outcome{}, err
			}
			started()
			if files[0] == writer {
				writer.Close()
			}
			_ = command.Wait() // the state says it
			return sandbox.Outcome{ExitCode: command.ProcessState.ExitCode()}, nil
		}
	}
	theirs := judge.Side(func(context.Context, func()) (sandbox.Outcome, error) { return sandbox.Outcome{}, nil })
	if runner != nil {
		theirs = side(append([]*os.File{nil}, wires.Runner()...), runner...)
	}
	said := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(report)
		said <- text
	}()
	end, err := judge.Run(t.Context(), wires, side(append([]*os.File{writer}, wires.Judge()...), append(program, "test", "cases.txt")...), theirs)
	writer.Close() // where it did not start
	text := string(<-said)
	if err != nil {
		t.Fatal(err)
	}
	return end.Judge.ExitCode == 0 && strings.Contains(text, "check: pass"), text + printed.String()
}

// lockedBuffer takes what two processes print.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// python is the interpreter that a worker of this machine would take.
func python(t *testing.T) string {
	t.Helper()
	found := toolchain.Find(t.Context()).Python
	if found == nil {
		t.Fatal("there is no python3 on this machine; make test installs it")
	}
	return found.Path
}

// build makes dir/program, compiling the submission anew and the rest once.
func build(t *testing.T, dir string, layout harness.Layout) {
	t.Helper()
	link := []string{"-o", filepath.Join(dir, "program")}
	for _, unit := range layout.Units {
		object := filepath.Join(dir, unit.Name+".o")
		link = append(link, object)
		if _, err := os.Stat(object); err == nil && !unit.Submitted {
			continue
		}
		compile(t, dir, "-std=c++20", "-O1", "-c", "-I.", unit.Name, "-o", object)
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

// No GPU is needed to see that the Python tasks for GPUs are Python.
func TestPythonOfExamplesParses(t *testing.T) {
	const parse = "import ast, sys; ast.parse(sys.stdin.read())"
	interpreter := python(t)
	for _, b := range examples(t) {
		if b.Definition.Lang != tasks.LangPython {
			continue
		}
		texts := map[string][]byte{}
		for name, text := range b.Files {
			texts[name] = text
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
