package toolchain

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// alone returns a job with one source and no task.
func alone(lang tasks.Lang, source string) job.Job {
	name := "kernel." + string(lang)
	return job.Job{Task: tasks.Definition{Protocol: tasks.ProtocolEval, Lang: lang, HasOwnHarness: true, Config: tasks.BuildConfig{Sources: []string{name}},
		Files: []tasks.File{{Name: name, Source: tasks.SubmissionSource}}}, Sources: map[string][]byte{name: []byte(source)}}
}

const twice = `#include <algorithm>
void twice(float* y, const float* x, int n) {
  for (int i = 0; i < n; i++) {
    y[i] = 2 * x[i];
  }
  std::sort(y, y + n);
}
`

// linesWith returns the source line of each line of code that contains a text.
func linesWith(code []CodeLine, text string) (lines []int) {
	for _, c := range code {
		if strings.Contains(c.Text, text) {
			lines = append(lines, c.Line)
		}
	}
	return lines
}

func TestInspectListsAssemblyWithItsSourceLines(t *testing.T) {
	b := newBuilder()
	done, err := b.Inspect(t.Context(), BuildRequest{Job: alone(tasks.LangCPP, twice), Environment: cpu()}, "kernel.cpp")
	if err != nil || done.BuildResult.Status != job.StatusPass {
		t.Fatalf("%+v, %v", done.BuildResult, err)
	}
	code := done.Listings[assemblyArchitecture]
	if len(code) == 0 || code[0].Text != "twice(float*, float const*, int):" {
		t.Fatalf("%d lines: %+v", len(code), code[:min(3, len(code))])
	}
	if !slices.ContainsFunc(code, func(c CodeLine) bool { return c.Line == 4 }) {
		t.Errorf("no code of line 4: %+v", code)
	}
	for _, c := range code {
		if strings.HasPrefix(strings.TrimSpace(c.Text), ".cfi") || strings.Contains(c.Text, "_Z") {
			t.Errorf("a directive or symbol stays: %q", c.Text)
		}
	}
	if took := done.BuildResult.EndedAt.Sub(done.BuildResult.StartedAt); took <= 0 || took > time.Hour {
		t.Errorf("it took %v", took)
	}
	if !strings.Contains(done.BuildResult.Command, " -S ") {
		t.Errorf("command %q", done.BuildResult.Command)
	}
}

func TestInspectOfASubmissionUsesItsTasksHeadersAndFlags(t *testing.T) {
	b := newBuilder()
	done, err := b.Inspect(t.Context(), BuildRequest{Job: cppJob(t, "correct.cpp"), Environment: cpu()},
		"submission.cpp")
	if err != nil || done.BuildResult.Status != job.StatusPass || len(linesWith(done.Listings[assemblyArchitecture], "custom_kernel")) == 0 ||
		!strings.Contains(done.BuildResult.Command, "-O0") || strings.Contains(done.BuildResult.Command, "eval.cpp") {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestInspectExplainsASourceThatDoesNotCompile(t *testing.T) {
	b := newBuilder()
	done, err := b.Inspect(t.Context(), BuildRequest{Job: alone(tasks.LangCPP, "int f() {\n  return nonsense;\n}\n"), Environment: cpu()}, "kernel.cpp")
	if err != nil || done.BuildResult.Status != job.StatusError || !strings.Contains(done.BuildResult.Stderr, "kernel.cpp:2:10: error") ||
		!strings.Contains(done.BuildResult.Failure.Reason, "nonsense") {
		t.Errorf("%+v, %v", done.BuildResult, err)
	}
}

func recorded(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "nvcc", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// recordedNVCC answers the commands of nvcc and nvdisasm with texts in the form of CUDA 12.
type recordedNVCC struct{ t *testing.T }

func (r recordedNVCC) Run(_ context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	out := sandbox.Outcome{Files: map[string][]byte{}}
	switch {
	case slices.Contains(spec.Argv, "-cubin"):
		out.Files["cubin"], out.Files["kernel.ptx"] = []byte("cubin"), []byte(recorded(r.t, "kernel.ptx"))
	case slices.Contains(spec.Argv, "-c") && strings.HasSuffix(spec.Argv[0], "nvcc"):
		out.Files["object"], out.Stderr = []byte("object"), recorded(r.t, "object.txt")
	default:
		if string(spec.Files["cubin"]) != "cubin" {
			r.t.Errorf("%v lacks the cubin", spec.Argv)
		}
		spec.OnStdout([]byte(recorded(r.t, "sass.txt")))
	}
	return out, nil
}

// TestInspectReadsWhatNVCCAndItsDisassemblerPrint uses recorded output for testdata/nvcc/kernel.cu.
func TestInspectReadsWhatNVCCAndItsDisassemblerPrint(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvdisasm"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(Config{
		Toolchain: Toolchain{NVCC: &Tool{Path: filepath.Join(dir, "nvcc")}},
		Runner:    recordedNVCC{t},
		ObjectDir: t.TempDir(),
	})
	done, err := b.Inspect(t.Context(), BuildRequest{Job: alone(tasks.LangCUDA, recorded(t, "kernel.cu")), Environment: Environment{Arch: "90"}}, "kernel.cu")
	if err != nil || done.BuildResult.Status != job.StatusPass {
		t.Fatalf("%+v, %v", done.BuildResult, err)
	}
	kernel := "ptxas._Z5scalePfPKfi."
	for fact, want := range map[string]string{"registers": "10", "smem": "1024", "spill_stores": "0", "stack": "0"} {
		if got := done.BuildResult.ExtraKeys[kernel+fact]; got != want {
			t.Errorf("%s: %q, want %q", fact, got, want)
		}
	}
	sass, ptx := done.Listings["SASS"], done.Listings["PTX"]
	if len(sass) == 0 || sass[0].Text != "scale(float*, float const*, int):" {
		t.Fatalf("SASS begins with %+v", sass[:min(2, len(sass))])
	}
	want := map[string][]int{"LDG": {6}, "STG": {9}, "BAR": {0}, "BRA": {3, 9}, ".L_x_0:": {0}, "/*": nil, ".headerflags": nil}
	for text, lines := range want {
		if diff := cmp.Diff(lines, linesWith(sass, text)); diff != "" {
			t.Errorf("SASS with %s (-want +got):\n%s", text, diff)
		}
	}
	for text, lines := range map[string][]int{"st.global": {9}, "ld.global": {6}, "bar.sync": {0}, ".entry": {0}, ".b8": nil, ".loc": nil, ".debug": nil} {
		if diff := cmp.Diff(lines, linesWith(ptx, text)); diff != "" {
			t.Errorf("PTX with %s (-want +got):\n%s", text, diff)
		}
	}
}

// TestInspectSurvivesAssemblyOfTheSubmission has sources with asm statements, whose text is in the listing and can be
// of any length.
func TestInspectSurvivesAssemblyOfTheSubmission(t *testing.T) {
	b := newBuilder()
	for name, c := range map[string]struct{ statement, want string }{
		"a symbol that overflows the stack": {`nop _Z1f` + strings.Repeat("P", 2<<20), "_Z1fPPP"},
		"more than is listed":               {strings.Repeat(`nop _Z1fPv\n`, 3<<20/11), "nop f(void*)"},
		"more than is read":                 {strings.Repeat(`nop\n`, maxAssemblyBytes/4), "This code is not shown: the file has"},
	} {
		t.Run(name, func(t *testing.T) {
			source := "void f() {\n  asm(\"" + c.statement + "\");\n}\n"
			done, err := b.Inspect(t.Context(), BuildRequest{Job: alone(tasks.LangCPP, source), Environment: cpu()}, "kernel.cpp")
			if err != nil || done.BuildResult.Status != job.StatusPass {
				t.Fatalf("%s, %v", done.BuildResult.Status, err)
			}
			code := done.Listings[assemblyArchitecture]
			if len(code) > maxCodeLines || !slices.ContainsFunc(code, func(l CodeLine) bool { return strings.Contains(l.Text, c.want) && len(l.Text) <= maxCodeLine }) {
				t.Errorf("%d lines without %q", len(code), c.want)
			}
		})
	}
}
