package harness

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tensors includes a header of torch. Only sources with such an include are compiled twice, also with fewer headers.
const tensors = "#include <torch/types.h>\n"

// runCompilerWrapper compiles one source by warpboard_compiler.py, as ninja would. It returns the folder and the
// output.
func runCompilerWrapper(t *testing.T, compiler, name, source string, more ...string) (dir, output string) {
	t.Helper()
	dir = t.TempDir()
	torch := filepath.Join(dir, "torch-include")
	for path, text := range map[string]string{
		filepath.Join(dir, name):                    source,
		filepath.Join(torch, "ATen", "Functions.h"): "#include <ATen/ops/relu.h>\n#include <ATen/ops/sum.h>\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs("programs/runner/warpboard_compiler.py")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-B", program, compiler, "-MD", "-MF", "x.o.d", "-isystem", torch}, more...)
	cmd := exec.CommandContext(t.Context(), debianPython, append(args, "-c", filepath.Join(dir, name), "-o", "x.o")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		out = append(out, err.Error()...)
	}
	return dir, string(out)
}

// fakeCompiler returns the path of the script in testdata/extensions that a test uses instead of a compiler.
func fakeCompiler(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "extensions", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func written(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNvccRunsBothChainsAtOnce: the fake cudafe++ (host code) and cicc (device code) end only when both run at once.
func TestNvccRunsBothChainsAtOnce(t *testing.T) {
	dir, output := runCompilerWrapper(t, fakeCompiler(t, "nvcc"), "k.cu", tensors+"a kernel\n")
	if got := written(t, dir, "x.o"); got != tensors+"a kernel\ngcc with few headers\ncudafe++\ngcc\n" || output != "" {
		t.Errorf("object %q; output %q", got, output)
	}
	if got := written(t, dir, "x.o.d"); got != "x.o: "+filepath.Join(dir, "k.cu")+" /usr/own.h\n" {
		t.Errorf("dependencies %q: ninja would miss what is gone", got)
	}
	if log := written(t, dir, "warpboard.log"); !strings.HasPrefix(log, "k.cu: compiled by nvcc with the headers that it names in ") {
		t.Errorf("log %q", log)
	}
}

// TestASourceThatFailsWithFewHeadersIsCompiledWithAll: the errors come from the compilation with all headers.
func TestASourceThatFailsWithFewHeadersIsCompiledWithAll(t *testing.T) {
	for _, test := range []struct{ compiler, name, source, object, output, log string }{
		{"nvcc", "k.cu", "needs all\n", tensors + "needs all\ngcc\ncudafe++\ngcc\n", "", "compiled by nvcc with all headers"},
		{"g++", "m.cpp", "needs all\n", "all headers\n", "", "compiled by g++ with all headers"},
		{"g++", "m.cpp", "few suffice\n", "few headers\n", "", "compiled by g++ with the headers that it names"},
		{"g++", "m.cpp", "needs all, is wrong\n", "", "m.cpp:2:1: error: it is wrong\nexit status 3", "failed by g++ with all headers"},
		{"nvcc", "k.cu", "a kernel\n", tensors + "a kernel\ngcc with few headers\ncudafe++\ngcc\n", "", "with the headers that it names"},
		{"g++", "m.cpp", "#include \"own.h\"\n", "all headers\n", "", "compiled by g++ with all headers"},
	} {
		dir, output := runCompilerWrapper(t, fakeCompiler(t, test.compiler), test.name, tensors+test.source)
		object, _ := os.ReadFile(filepath.Join(dir, "x.o"))
		log := written(t, dir, "warpboard.log")
		if string(object) != test.object || output != test.output || !strings.Contains(log, test.log) {
			t.Errorf("%s of %q: object %q, output %q, log %q", test.compiler, test.source, object, output, log)
		}
	}
}

// TestASourceWithoutTorchIsCompiledOnce: it includes no headers of torch that could be left out.
func TestASourceWithoutTorchIsCompiledOnce(t *testing.T) {
	dir, _ := runCompilerWrapper(t, fakeCompiler(t, "nvcc"), "k.cu", "a kernel\n")
	if got := written(t, dir, "x.o"); got != "a kernel\ngcc\ncudafe++\ngcc\n" {
		t.Errorf("object %q", got)
	}
}

// TestUnknownFlagsArePassedToTheCompilerUnchanged: so are commands if nvcc's list of commands has an unknown form, or
// if they fail without an error in the source.
func TestUnknownFlagsArePassedToTheCompilerUnchanged(t *testing.T) {
	for _, more := range [][]string{{"-rdc=true"}, {"-keep"}, {"--threads", "4"}, {"further.cu"}} {
		if dir, output := runCompilerWrapper(t, fakeCompiler(t, "nvcc"), "k.cu", "a kernel\n", more...); written(t, dir, "x.o") != "by nvcc itself\n" {
			t.Errorf("%v: %q", more, output)
		}
	}
	for _, way := range []string{"strange", "refuses"} {
		t.Setenv("WAY", way)
		dir, output := runCompilerWrapper(t, fakeCompiler(t, "nvcc"), "k.cu", tensors)
		if log := written(t, dir, "warpboard.log"); written(t, dir, "x.o") != "by nvcc itself\n" || !strings.HasPrefix(log, "k.cu: left to nvcc as it is (") {
			t.Errorf("%s: %s; log %q", way, output, log)
		}
	}
}

// askExtensions evaluates a Python expression for each item of input (given), and decodes the list of results into
// answer.
func askExtensions(t *testing.T, expression string, input, answer any) {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), debianPython, "-B", "-c",
		"import json, sys; sys.path.insert(0, 'programs/runner'); import warpboard_headers, warpboard_inline\n"+
			"print(json.dumps([("+expression+") for given in json.load(sys.stdin)]))")
	cmd.Stdin = strings.NewReader(string(data))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatal(err)
	}
}

// TestFewHeadersOnlyWhereTheTextShowsWhatItNames: other sources are compiled with all of torch's headers.
func TestFewHeadersOnlyWhereTheTextShowsWhatItNames(t *testing.T) {
	tests := []struct {
		text  string
		flags []string
		want  bool
	}{
		{"#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return torch::relu(x); }", nil, true},
		{"#define T 4\n#if T > 2 // small\n#endif\n#ifdef __CUDA_ARCH__\n#endif", nil, true},
		{"using namespace at;", nil, true},
		{"using namespace torch;", nil, false},
		{"#include \"own.h\"", nil, false},
		{"#define JOIN(a, b) a##b", nil, false},
		{"#ifdef TORCH_NN\n#endif", nil, false},
		{"#if __has_include(<torch/nn.h>)\n#endif", nil, false},
		{"#define AT_PER_OPERATOR_HEADERS", nil, false},
		{"#if defined(USE_ROCM) || \\\n  defined(TORCH_MODULE)\n#endif", nil, false},
		{"#\\\nifdef TORCH_MODULE\n#endif", nil, false},
		{"#/* */ifdef TORCH_MODULE\n#endif", nil, false},
		{"#ifdef __CUDA_ARCH__\n#elifdef TORCH_MODULE\n#endif", nil, false},
		{"%:ifdef TORCH_MODULE\n#endif", nil, false},
		{"#import \"own.h\"", nil, false},
		{"", []string{"-O3", "-DN=4", "--use_fast_math"}, true},
		{"", []string{"-I/home/own"}, false},
		{"", []string{"-include", "own.h"}, false},
		{"", []string{"-isystem", "testdata"}, false},
		{"", []string{"-isystem", "/no/such/folder"}, true},
	}
	var given [][2]any
	var want, got []bool
	for _, test := range tests {
		given = append(given, [2]any{test.text, append([]string{}, test.flags...)})
		want = append(want, test.want)
	}
	askExtensions(t, "warpboard_headers.allowed(*given)", given, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFewHeadersHaveEachOperatorThatTheTextNames: in each form of its name, and those that the header's own functions
// call.
func TestFewHeadersHaveEachOperatorThatTheTextNames(t *testing.T) {
	functions := "#include <ATen/core/Tensor.h>\n"
	for _, name := range []string{"add", "empty", "relu", "size", "sum", "topk", "var"} {
		functions += "#include <ATen/ops/" + name + ".h>\n"
	}
	functions += "inline Tensor first(const Tensor& t) { return at::var(t, 0); }\n"
	var got []string
	askExtensions(t, "warpboard_headers.fewer(*given)", [][2]string{{functions, "at::add_out(o, a); x.relu_(); auto f = &at::topk;"}}, &got)
	var kept []string
	for _, found := range regexp.MustCompile(`ops/(\w+)\.h`).FindAllStringSubmatch(got[0], -1) {
		kept = append(kept, found[1])
	}
	if diff := cmp.Diff([]string{"add", "empty", "relu", "topk", "var"}, kept); diff != "" {
		t.Error(diff)
	}
}

// TestALaunchInCppSourcesIsCompiledByNvcc: C++ sources that launch a kernel become CUDA sources. The C++ source then
// only declares the bound functions.
func TestALaunchInCppSourcesIsCompiledByNvcc(t *testing.T) {
	const header, kernel = "#include <torch/extension.h>", "__global__ void k(float* x);"
	const launches = "torch::Tensor f(torch::Tensor x, int n = 2) {\n  // {\n  k<<<1, n>>>(x.data_ptr<float>()); return x; }"
	type sources = [][]string
	tests := []struct {
		cpp, functions []string
		want           sources
	}{
		{[]string{launches}, []string{"f"}, sources{{header, "torch::Tensor f(torch::Tensor x, int n = 2);"}, {kernel, header, launches}}},
		{[]string{"void h(int);", launches}, nil, sources{{header}, {kernel, header, "void h(int);", launches}}},
		// nothing to move: no launch, or only in a comment
		{[]string{"torch::Tensor f(torch::Tensor x);"}, []string{"f"}, nil},
		{[]string{"torch::Tensor f(int x); // k<<<1, 1>>>()"}, []string{"f"}, nil},
		// no declaration of g, which g++ reports; a static function, which another source cannot call
		{[]string{launches}, []string{"g"}, nil},
		{[]string{strings.Replace(launches, "torch", "static torch", 1)}, []string{"f"}, nil},
		{[]string{"struct S { int f(int x) { return 1; } };" + strings.Replace(launches, " f(", " g(", 1)}, []string{"f"}, nil},
	}
	var given [][3][]string
	var want, got []sources
	for _, test := range tests {
		given = append(given, [3][]string{test.cpp, {kernel}, append([]string{}, test.functions...)})
		want = append(want, test.want)
	}
	askExtensions(t, "warpboard_inline.move(*given)", given, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExtensionsBuiltBeforeAFailedImportArePacked: a script that compiles extensions and then needs a GPU fails where
// extensions are built. Without packing, each later process would compile them again.
func TestExtensionsBuiltBeforeAFailedImportArePacked(t *testing.T) {
	dir := t.TempDir()
	program, err := filepath.Abs("programs/runner/warpboard_extensions.py")
	if err != nil {
		t.Fatal(err)
	}
	run := func(extensions, script string, args ...string) (string, error) {
		if err := os.WriteFile(filepath.Join(dir, "script.py"), []byte("import os\nplace = os.environ['TORCH_EXTENSIONS_DIR']\n"+script), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), debianPython, append([]string{"-B", program}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TORCH_EXTENSIONS_DIR="+filepath.Join(dir, extensions))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("there", "os.makedirs(place + '/one')\nopen(place + '/one/one.so', 'w').write('code')\nraise RuntimeError('no GPU')\n", "build", "script.py", "made.tar")
	if err == nil || !strings.Contains(out, "RuntimeError: no GPU") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := run("here", "print(open(place + '/one/one.so').read())\n", "run", "made.tar", "script.py"); err != nil || out != "code\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
