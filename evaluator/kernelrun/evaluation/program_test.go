package evaluation

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/harness/pairtest"
	"warpboard/evaluator/kernelrun"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func TestTheProgramsOwnTests(t *testing.T) {
	tier.Needs(t, tier.Torch)
	core := t.TempDir()
	for name, data := range map[string][]byte{
		"warpboard_core.py":    harness.Sources(tasks.ProtocolEval, tasks.LangPython)["warpboard_core.py"],
		"libwarpboard_core.so": pairtest.BuildCore(t, harness.CoreSources()),
	} {
		if err := os.WriteFile(filepath.Join(core, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-W", "ignore", "testdata/test_program.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+core+":program:../../harness/programs/py")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNoFileOfAKernelHidesAModuleOfTheProgram checks that kernelrun.ProgramModules lists all modules of the program: a
// kernel's files are in the same folder, and may not have these names.
func TestNoFileOfAKernelHidesAModuleOfTheProgram(t *testing.T) {
	entries, err := programSource.ReadDir("program")
	if err != nil {
		t.Fatal(err)
	}
	known := kernelrun.ProgramModules()
	for _, entry := range entries {
		if !slices.Contains(known, strings.TrimSuffix(entry.Name(), ".py")) {
			t.Errorf("kernelrun.ProgramModules lacks %s", entry.Name())
		}
	}
	if len(entries)+3 != len(known) { // + 3 files that runs create: inputs_kernel, custom_kernel, ref_kernel
		t.Errorf("%d modules, and %d names", len(entries), len(known))
	}
}

func TestOnlySourcesThatCompileExtensionsAreBuiltBefore(t *testing.T) {
	inline := kernelrun.KernelCode{KernelType: "torch_cuda", Source: "from torch.utils.cpp_extension import load_inline\n"}
	plain := kernelrun.KernelCode{KernelType: "torch", Source: "x = 1\n"}
	for _, tt := range []struct {
		request kernelrun.Request
		want    []string
	}{
		{kernelrun.Request{Kind: kernelrun.KindCompare, RefKernel: &plain, CustomKernel: inline, Timeout: 7}, []string{customFile}},
		{kernelrun.Request{Kind: kernelrun.KindCompare, RefKernel: &inline, CustomKernel: inline}, []string{customFile, refFile}},
		{kernelrun.Request{Kind: kernelrun.KindEvaluate, CustomKernel: plain}, nil},
		{kernelrun.Request{Kind: kernelrun.KindEvaluate, CustomKernel: kernelrun.KernelCode{KernelType: "cuda", Source: "// load_inline"}},
			nil},
	} {
		def, files, request, err := taskForRequest(tt.request, "H200")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range def.Files {
			if f.Source != tasks.SubmissionSource || string(files[f.Name]) != inline.Source {
				t.Errorf("file %+v with %q", f, files[f.Name])
			}
			got = append(got, f.Name)
		}
		if len(got) != len(tt.want) || files[def.Config.MainFile] == nil {
			t.Errorf("built ahead: %v, want %v", got, tt.want)
		}
		var read struct {
			Device string
			Custom kernelrun.KernelCode
		}
		if err := json.Unmarshal(request, &read); err != nil || read.Device != "H200" ||
			read.Custom.Source != tt.request.CustomKernel.Source {
			t.Errorf("request.json: %+v, %v", read, err)
		}
	}
}

// TestAnExtensionIsKnownInAnotherRequest checks that requests with the same extension have the same task files. These
// are the key by which compiled extensions are stored.
func TestAnExtensionIsKnownInAnotherRequest(t *testing.T) {
	inline := kernelrun.KernelCode{KernelType: "torch_cuda",
		Source: "from torch.utils.cpp_extension import load_inline\nload_inline('e', 'int f();')\n"}
	_, want, _, err := taskForRequest(kernelrun.Request{Kind: kernelrun.KindCompare,
		RefKernel: &kernelrun.KernelCode{KernelType: "torch", Source: "a"}, CustomKernel: inline, Timeout: 7}, "H200")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []kernelrun.Request{
		{Kind: kernelrun.KindCompare, RefKernel: &kernelrun.KernelCode{KernelType: "torch", Source: "b"}, CustomKernel: inline, Timeout: 7},
		{Kind: kernelrun.KindEvaluate, CustomKernel: inline, NumTrials: 500},
	} {
		if _, got, _, err := taskForRequest(other, "H200"); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%+v: %v\n%s", other, err, cmp.Diff(want, got))
		}
	}
}

func TestUsesOneStream(t *testing.T) {
	for _, c := range []struct {
		code kernelrun.KernelCode
		want bool
	}{
		{kernelrun.KernelCode{KernelType: "cuda", Source: "// a stream of numbers"}, true},
		{kernelrun.KernelCode{KernelType: "triton", Source: "@triton.jit\n# like a graph"}, true},
		{kernelrun.KernelCode{KernelType: "torch", Source: "return x + y"}, true},
		{kernelrun.KernelCode{KernelType: "torch", Source: "return x + y", TorchCompile: true}, false},
		{kernelrun.KernelCode{KernelType: "torch", Source: "f = torch.compile(f)"}, false},
		{kernelrun.KernelCode{KernelType: "torch", Source: "g = torch.cuda.CUDAGraph()"}, false},
		{kernelrun.KernelCode{KernelType: "torch_cuda", Source: "cudaStreamCreate(&s);"}, false},
		{kernelrun.KernelCode{KernelType: "torch", Source: "self.rnn = torch.nn.LSTM(8, 8)"}, false},
		{kernelrun.KernelCode{
			KernelType: "multi_kernel", Source: "pass", Files: map[string]string{"more.py": "s = torch.cuda.Stream()"}}, false},
	} {
		e := Evaluation{Attempt: &attempt.Attempt{}, request: kernelrun.Request{CustomKernel: c.code}}
		if got := e.kernelProcess("kernel", customLabel); got.UsesOneStream != c.want {
			t.Errorf("%+v: %+v", c.code, got)
		}
		if got := e.kernelProcess("inputs", customLabel); !got.UsesOneStream {
			t.Errorf("inputs of %+v: %+v", c.code, got)
		}
		e.request.RefKernel = &kernelrun.KernelCode{KernelType: "torch", Source: "return x + y"}
		if got := e.kernelProcess("kernel", refLabel); got.UsesOneStream != c.want {
			t.Errorf("the reference of %+v: %+v", c.code, got)
		}
	}
}

// TestASourceThatSetsVariablesGetsANewProcess covers environment variables that CUDA and PyTorch read only once. In a
// prepared process, they have already read them.
func TestASourceThatSetsVariablesGetsANewProcess(t *testing.T) {
	for source, want := range map[string]bool{
		"import torch\n": false,
		"import os\nos.environ['NVIDIA_TF32_OVERRIDE'] = '0'\n": true,
		"torch.cuda.memory.change_current_allocator(mine)\n":    true,
	} {
		e := Evaluation{
			Attempt: &attempt.Attempt{},
			request: kernelrun.Request{CustomKernel: kernelrun.KernelCode{KernelType: "torch", Source: source}},
		}
		if got := e.kernelProcess("kernel", customLabel); got.NeedsNewProcess != want || !slices.Equal(got.PrepareArguments, []string{"kernel", "torch"}) {
			t.Errorf("%q: %+v", source, got)
		}
	}
}
