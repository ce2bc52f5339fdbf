package evaluator_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// TestARightKernelIsTimedBesideItsReference also requests counters that the device does not have. The report must note
// that.
func TestARightKernelIsTimedBesideItsReference(t *testing.T) {
	request := compare(t, torch(doubling), torch(torchModelSource("print('hello'); return x + x")))
	request.DeviceMetrics = true
	r := evaluateOn(t, evaluations.on(t), request)
	if r.MetricsError == "" || len(r.Metrics) > 0 {
		t.Errorf("counters of a CPU: %v, %q", r.Metrics, r.MetricsError)
	}
	if !r.Compiled || !r.Correctness || r.TotalTrials != 2 || *r.TrialsPassed != 2 ||
		r.ProfilingMethod != "wall_clock" || r.Device != "CPU" {
		t.Fatalf("report: %+v", r)
	}
	for name, s := range map[string]*kernelrun.Stats{"custom": r.RuntimeStats, "ref": r.RefRuntime} {
		ordered := []float64{0, s.Min, s.Median, s.Percentile95, s.Percentile99, s.Max}
		if !slices.IsSorted(ordered) || s.Min == 0 || s.Mean < s.Min || s.Mean > s.Max || s.Std < 0 {
			t.Errorf("%s: statistics %+v", name, s)
		}
	}
	if len(r.Times) != 3 || *r.Speedup <= 0 || r.SpeedupInterval[0] > r.SpeedupInterval[1] ||
		r.CompileSeconds["ref"] <= 0 {
		t.Errorf("report: %+v", r)
	}
	if !strings.Contains(r.Stdout, "hello") || r.SlotSeconds <= 0 {
		t.Errorf("result: %+v", r)
	}
}

// TestTheSameKernelTwiceIsAsFastAsItself uses a kernel that sleeps, so that its time hardly depends on other work of
// the machine. Some wake-ups are still a few milliseconds late.
func TestTheSameKernelTwiceIsAsFastAsItself(t *testing.T) {
	kernel := torch("import time\n" + strings.Replace(doubling, "return x * 2", "time.sleep(0.15); return x * 2", 1))
	w := evaluations.on(t)
	var seen []float64
	for range 4 {
		request := compare(t, kernel, kernel)
		request.NumTrials = 5
		r := evaluateOn(t, w, request)
		if r.Speedup == nil || len(r.Times) != 5 || r.RuntimeStats.Median < 150 || r.FreshInputs == nil ||
			!*r.FreshInputs {
			t.Fatalf("report: %+v", r)
		}
		seen = append(seen, *r.Speedup)
		if math.Abs(*r.Speedup-1) <= 0.03 {
			return
		}
	}
	t.Errorf("a kernel is %v times as fast as itself, by five trials each", seen)
}

func TestTimedCallsEndWhenTheyHaveShownWhatIsAskedFor(t *testing.T) {
	sleeping := func(seconds string) map[string]any {
		return torch("import time\n" +
			strings.Replace(doubling, "return x * 2", "time.sleep("+seconds+"); return x * 2", 1))
	}
	request := ask(t, kernelrun.KindCompare,
		map[string]any{"ref_kernel": sleeping("0.04"), "custom_kernel": sleeping("0.004"), "num_trials": 100,
			"stop_when": map[string]any{"speedup_above": 1.5}})
	r := evaluateOn(t, evaluations.on(t), request)
	if r.EarlyStop == nil || *r.EarlyStop != (kernelrun.EarlyStop{Reason: "speedup_above", TimedCalls: 20}) ||
		len(r.Times) != 20 || r.Confidence <= 0.95 || *r.Speedup < 1.5 {
		t.Errorf("report: %+v", r)
	}
}

func TestTolerancesDecideAndAMismatchNamesItsFirstElement(t *testing.T) {
	w := evaluations.on(t)
	near := torch(torchModelSource("y = x * 2; y[41] = y[41] + 0.005; return y"))
	for _, tt := range []struct {
		name       string
		atol, rtol any
		right      bool
		text       string
	}{
		{"default", nil, nil, true, ""},
		{"tight", 1e-5, 0, false, "atol=1e-05, rtol=0.0"},
	} {
		request := ask(t, kernelrun.KindCompare,
			map[string]any{"ref_kernel": torch(doubling), "custom_kernel": near, "atol": tt.atol, "rtol": tt.rtol})
		r := evaluateOn(t, w, request)
		if r.Correctness != tt.right || !strings.Contains(r.ValidationError, tt.text) {
			t.Errorf("%s: %+v", tt.name, r)
		}
		if m := r.FirstMismatch; !tt.right &&
			(m["element"] != 41.0 || m["expected"].(float64) < 2 || m["actual"].(float64) <= m["expected"].(float64)) {
			t.Errorf("first mismatch: %v", m)
		}
	}
}

func TestAReferenceThatDoesNotCompileIsNotTheKernelsFault(t *testing.T) {
	r := evaluateOn(t, evaluations.on(t), compare(t, torch("broken"), torch(doubling)))
	if !r.Compiled || r.Correctness || r.ValidationError != "Skipped due to compilation failure" ||
		!strings.Contains(r.RefCompilationError, "NameError") {
		t.Errorf("report: %+v", r)
	}
}

func TestKernelsAreFoundByNameAndCalledByTheirContract(t *testing.T) {
	type fields = map[string]any
	tensor := func(name string, value float64, role string) fields {
		return fields{"name": name, "type": "tensor", "role": role,
			"tensor_spec": fields{"shape": []int{16}, "init": fields{"kind": "full", "fill_value": value}}}
	}
	source := `import torch
def f(x, y, k):
    return x + k * y
class C:
    def m(self, x, y, k):
        return x + k * y
def run(x, y, k):
    x += k * y
`
	args := []fields{tensor("x", 1, "inout"), tensor("y", 3, "input"), {"name": "k", "type": "int", "value": "2"}}
	code := func(kind string, metadata fields) fields {
		return fields{"source_code": source, "kernel_type": kind, "metadata": metadata, "io": fields{"args": args}}
	}
	ref := torch(
		"import torch\nclass Model(torch.nn.Module):\n    def forward(self, *a): return torch.full((16,), 7.0)\ndef get_inputs(): return []\n")
	w := evaluations.on(t)
	for name, custom := range map[string]fields{
		"function":     code("torch", fields{"function_name": "f"}),
		"method":       code("torch", fields{"class_name": "C", "method_name": "m"}),
		"multi_kernel": code("multi_kernel", fields{"entry_point": "run"}),
	} {
		if r := evaluateOn(t, w, compare(t, ref, custom)); !r.Correctness || r.RuntimeStats == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestAnEndlessKernelEndsAtItsTimeLimit has a limit of 10 s, because on a busy machine importing PyTorch takes several
// seconds of it. A second evaluation checks that the worker continues, and that constant inputs are reported as not
// fresh.
func TestAnEndlessKernelEndsAtItsTimeLimit(t *testing.T) {
	const limit = 10
	request := evaluateOne(t, torch(doubling+"Model.forward = lambda self, x: __import__('time').sleep(999)\n"))
	request.Timeout = limit
	w := evaluations.on(t)
	r := evaluateOn(t, w, request)
	if !r.TimedOut || !r.Compiled ||
		!strings.Contains(r.ValidationError, "The time limit was reached while validating.") || r.SlotSeconds < limit/2 ||
		r.SlotSeconds > 3*limit {
		t.Errorf("report: %+v", r)
	}
	r = evaluateOn(t, w, evaluateOne(t,
		torch(strings.Replace(doubling, "torch.rand(1000) + 1", "torch.ones(1000)", 1))))
	if !r.Correctness || r.FreshInputs == nil || *r.FreshInputs || r.ClockTimes["custom"].CountedClock == "" {
		t.Errorf("the next one: %+v", r)
	}
}

// TestFailingKernelsReportTheReason runs kernels that fail in different ways. The tests in
// kernelrun/evaluation/testdata cover missing parts of a kernel and wrong answers, without processes;
// web.TestEvaluationsAgainstARealWorker covers wrong numbers, a syntax error, and a crash. The last case must not leave
// a process with PyTorch for the next test.
func TestFailingKernelsReportTheReason(t *testing.T) {
	type fields = map[string]any
	input := fields{"name": "x", "type": "tensor",
		"tensor_spec": fields{"shape": []int{8}, "init": fields{"kind": "arange", "start": 1}}}
	io := func(code fields, args ...fields) fields { code["io"] = fields{"args": args}; return code }
	tests := []struct {
		name     string
		request  kernelrun.Request
		compiled bool
		want     string // expected text in the error of the failed step
	}{
		{"exception", compare(t, torch(doubling), torch(torchModelSource("raise ValueError('not today')"))), true,
			"Trial 1 failed:\nTraceback"},
		{"bad bytes", evaluateOne(t, io(torch(doubling),
			fields{"name": "x", "type": "tensor", "tensor_spec": fields{"data": fields{"data_b64": "AAA="}}})), false,
			"Tensor argument 'x': data has 2 bytes"},
		{"triton on a CPU", evaluateOne(t, io(fields{"source_code": "x = 1", "kernel_type": "triton"}, input)), false,
			"needs a GPU"},
		{"leaves", compare(t, torch(doubling), torch(torchModelSource("os._exit(0)"))), true,
			"exited with code 0 while validating"},
	}
	w := evaluations.on(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := evaluateOn(t, w, tt.request)
			message := r.ValidationError
			if !tt.compiled {
				message = r.CompilationError
			}
			if r.Compiled != tt.compiled || r.Correctness || !strings.Contains(message, tt.want) ||
				r.RuntimeStats != nil {
				t.Errorf("want %q in %+v", tt.want, r)
			}
		})
	}
}

// lessMemory is a ProcessRunner that limits the memory of each program to 700 MiB.
type lessMemory struct {
	toolchain.ProcessRunner
	used *atomic.Bool
}

func (l lessMemory) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	spec.Limits.Memory = 700 << 20
	l.used.Store(true)
	return l.ProcessRunner.Run(ctx, spec)
}

func TestAKernelThatNeedsTooMuchMemoryReportsIt(t *testing.T) {
	tier.Needs(t, tier.Torch)
	var used atomic.Bool
	cfg := realConfigWith(t, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { return lessMemory{r, &used} })
	cfg.Conn = evaluator.NopConn{}
	w := evaluator.NewWorker(cfg)
	defer w.Close()
	r := evaluateOn(t, w, evaluateOne(t, torch(doubling+"Model.forward = lambda self, x: torch.ones(1 << 29)\n")))
	if !used.Load() || !r.Compiled || r.Correctness ||
		!(r.ExceededLimit == "memory" || strings.Contains(r.ValidationError, "memory")) {
		t.Errorf("report: %+v", r)
	}
}

func TestAWorkerWithoutPyTorchSaysSo(t *testing.T) {
	cfg := realConfig(t)
	cfg.Conn, cfg.Toolchain.Python = evaluator.NopConn{}, nil
	result, err := evaluator.NewWorker(cfg).Evaluate(t.Context(), evaluationJob(t, evaluateOne(t, torch(doubling))))
	if err != nil || result.Outcome != job.OutcomeFailed || !result.Failure.IsInfrastructureError ||
		!strings.Contains(result.Failure.Reason, "PyTorch") {
		t.Errorf("result: %+v, %v", result, err)
	}
}

// TestAKernelFindsNothingOfTheOther checks that no file in a kernel's sandbox has the reference's source, which the
// kernel could run instead of its own.
func TestAKernelFindsNothingOfTheOther(t *testing.T) {
	tier.Needs(t, tier.Torch)
	hunter := `import os, torch
wanted = b"return x " + b"* 2"
paths = [os.path.join(folder, name) for top in (os.getcwd(), "/in", "/out", "/tmp") for folder, _, names in os.walk(top) for name in names]
found = [path for path in paths if os.path.isfile(path) and wanted in open(path, "rb").read()]
assert any(path.endswith("custom_kernel.py") for path in paths), paths
class Model(torch.nn.Module):
    def forward(self, x):
        assert not found, found
        return x + x
`
	w := newReusing(t).worker
	for _, reuse := range []bool{false, true} {
		body := map[string]any{"ref_kernel": torch(doubling), "custom_kernel": torch(hunter), "reuse_reference": reuse}
		if result := evaluateOn(t, w, ask(t, kernelrun.KindCompare, body)); !result.Correctness {
			t.Errorf("reuse_reference %v: %+v", reuse, result.Report)
		}
	}
}

// TestAKernelFindsNothingOfTheOtherWhileItsExtensionIsCompiled checks that the reference's source is not there either
// while the kernel's extension is compiled: a kernel could copy it to a file that it finds when it runs.
func TestAKernelFindsNothingOfTheOtherWhileItsExtensionIsCompiled(t *testing.T) {
	tier.Needs(t, tier.Torch)
	hunter := `import os, torch  # load_inline
kept = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "kept.py")
if os.path.exists("ref_kernel.py"):
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    open(kept, "w").write(open("ref_kernel.py").read())
found = open(kept).read() if os.path.exists(kept) else ""
class Model(torch.nn.Module):
    def forward(self, x):
        assert not found, found
        return x + x
`
	w := newReusing(t).worker
	body := map[string]any{"ref_kernel": torch(doubling + "# load_inline\n"), "custom_kernel": torch(hunter)}
	if result := evaluateOn(t, w, ask(t, kernelrun.KindCompare, body)); !result.Correctness {
		t.Errorf("%+v", result.Report)
	}
}

func TestAReferenceIsTimedBesideAnExtensionThatDoesNotCompile(t *testing.T) {
	tier.Needs(t, tier.Torch)
	broken := "raise RuntimeError(\"Error building extension 'e': no such type\")  # load_inline\n"
	w := newReusing(t).worker
	result := evaluateOn(t, w, compare(t, torch(doubling), torch(broken)))
	if result.Compiled || !strings.Contains(result.CompilationError, "no such type") || result.RefRuntime == nil ||
		result.RefRuntime.Mean <= 0 || result.Fault != "" {
		t.Errorf("%+v, %+v", result.Report, result.RefRuntime)
	}
	blaming := strings.Replace(broken, "no such type", "ref_kernel.py: no such type", 1)
	result = evaluateOn(t, w, compare(t, torch(doubling), torch(blaming)))
	if result.Compiled || !strings.Contains(result.CompilationError, "no such type") || result.Fault != "" {
		t.Errorf("a kernel that names the reference: %+v", result.Report)
	}
	printing := doubling + "import sys\nprint(\"Error building extension 'e': ref_kernel.py\", file=sys.stderr)  # load_inline\n"
	if result = evaluateOn(t, w, compare(t, torch(doubling), torch(printing))); !result.Correctness {
		t.Errorf("a kernel that prints an error: %+v", result.Report)
	}
	result = evaluateOn(t, w, compare(t, torch(broken), torch(doubling)))
	if result.RefCompilationError == "" || result.Fault != kernelrun.FaultReference {
		t.Errorf("a reference that does not compile: %+v", result.Report)
	}
}

// TestAContractOfAKernelHoldsNothingThatItHasToCompute has a contract with two tensors of the same seed but different
// means and deviations. The second must not be a function of the first: it could be the answer.
func TestAContractOfAKernelHoldsNothingThatItHasToCompute(t *testing.T) {
	tier.Needs(t, tier.Torch)
	type fields = map[string]any
	tensor := func(name string, mean, std float64) fields {
		return fields{"name": name, "type": "tensor", "tensor_spec": fields{"shape": []int{100_000},
			"init": fields{"kind": "randn", "seed": 5, "mean": mean, "std": std}}}
	}
	ref, custom := torch(torchModelSource("return x * 2 + 1")),
		torch(strings.Replace(torchModelSource("return y"), "self, x", "self, x, y", 1))
	ref["io"], custom["io"] = fields{"args": []fields{tensor("x", 0, 1)}},
		fields{"args": []fields{tensor("x", 0, 1), tensor("y", 1, 2)}}
	body := map[string]any{"ref_kernel": ref, "custom_kernel": custom, "atol": 1e-5, "rtol": 1e-5, "num_trials": 20}
	result := evaluateOn(t, newReusing(t).worker, ask(t, kernelrun.KindCompare, body))
	if result.Correctness {
		t.Errorf("a kernel that computes nothing is right; its speedup is %.1f", *result.Speedup)
	}
}
