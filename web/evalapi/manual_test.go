package evalapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/web/webtest"
)

// tensorArg is a tensor argument of a contract.
func tensorArg(name, dtype string, init webtest.Object) webtest.Object {
	return webtest.Object{"name": name, "type": "tensor",
		"tensor_spec": webtest.Object{"shape": []int{64}, "dtype": dtype, "init": init}}
}

// torchFunction is a torch kernel that calls f with a contract's arguments.
func torchFunction(source string, args ...any) webtest.Object {
	return webtest.Object{"kernel_type": "torch", "source_code": "import torch\n" + source,
		"io": webtest.Object{"args": args}, "metadata": webtest.Object{"function_name": "f"}}
}

// inlineKernel returns a torch_cuda kernel whose class has the given name. All else in the source is valid.
func inlineKernel(class string) webtest.Object {
	return webtest.Object{"kernel_type": "torch_cuda", "io": webtest.Object{"args": []any{tensorArg("x", "float32", webtest.Object{})}}, "source_code": `
import torch
from torch.utils.cpp_extension import load_inline
source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; } torch::Tensor f(torch::Tensor x) { return x; }"
module = load_inline(name="m", cpp_sources="torch::Tensor f(torch::Tensor x);", cuda_sources=source, functions=["f"])
class ` + class + `(torch.nn.Module):
    def forward(self, x): return module.f(x)
`}
}

// TestTheManualsExamplesWorkOnARealWorker evaluates the manual's examples in the real sandbox, because only the worker
// produces the tested parts of the answers.
func TestTheManualsExamplesWorkOnARealWorker(t *testing.T) {
	s := newWorkingSite(t)
	evaluate := func(t *testing.T, body webtest.Object) webtest.Object {
		t.Helper()
		path := "/evaluate"
		if body["ref_kernel"] != nil {
			path = "/compare"
		}
		body["num_trials"], body["l2_flush"] = 3, false
		resp, answer := s.Ask("POST", path, body)
		if resp.StatusCode != 200 || resp.Header.Get("X-GPU-Type") != "cpu" {
			t.Fatalf("%s %v", resp.Status, answer)
		}
		return answer["kernel_exec_result"].(webtest.Object)
	}
	compiles := func(result webtest.Object) string {
		return fmt.Sprint(result["compiled"], " ", result["compilation_error"])
	}

	t.Run("tensors of one seed are equal in every trial", func(t *testing.T) {
		seeded := webtest.Object{"kind": "randn", "seed": 7}
		result := evaluate(t, webtest.Object{"kernel": torchFunction(
			"def f(a, b, c):\n    assert torch.equal(a, b) and not torch.equal(a, c)\n    return a\n",
			tensorArg("a", "float32", seeded), tensorArg("b", "float32", seeded),
			tensorArg("c", "float32", webtest.Object{"kind": "randn", "seed": 8}))})
		if result["correctness"] != true || result["fresh_inputs"] != true {
			t.Errorf("%v", result)
		}
	})
	t.Run("complex numbers are drawn, handed over and compared", func(t *testing.T) {
		args := []any{tensorArg("x", "complex64", webtest.Object{"kind": "randn"}),
			tensorArg("y", "complex128", webtest.Object{"kind": "uniform"})}
		ref := torchFunction("def f(x, y): return x * y\n", args...)
		if result := evaluate(t, webtest.Object{"ref_kernel": ref,
			"custom_kernel": torchFunction("def f(x, y): return y * x\n", args...)}); result["correctness"] != true {
			t.Errorf("the same product: %v", result)
		}
		result := evaluate(t, webtest.Object{"ref_kernel": ref,
			"custom_kernel": torchFunction("def f(x, y): return (x * y).conj().resolve_conj()\n", args...)})
		if result["correctness"] != false ||
			!strings.HasPrefix(fmt.Sprint(result["validation_error"]), "Numerical outputs don't match") {
			t.Errorf("its conjugate: %v", result)
		}
	})
	t.Run("a torch_cuda kernel is its ModelNew", func(t *testing.T) {
		if message := compiles(evaluate(t, webtest.Object{"kernel": inlineKernel("Model")})); !strings.HasPrefix(message,
			"false Compilation error:\nNo ModelNew torch module found") {
			t.Error(message)
		}
		if message := compiles(evaluate(t,
			webtest.Object{"kernel": inlineKernel(
				"ModelNew")})); message != "false Compilation error:\nA torch_cuda kernel needs a GPU; this device is the CPU" {
			t.Error(message)
		}
	})
	t.Run("a kernel named in its launch", func(t *testing.T) {
		result := evaluate(t, webtest.Object{"kernel": webtest.Object{"kernel_type": "cuda",
			"source_code": "__global__ void a() {}\n__global__ void b() {}\n",
			"io":          webtest.Object{"args": []any{}, "launch": webtest.Object{"kernel_name": "b"}}}})
		if name := result["metadata"].(webtest.Object)["kernel_name"]; name != "b" {
			t.Errorf("the kernel is called %v", name)
		}
	})
	t.Run("examples of the Python client", func(t *testing.T) { examplesRun(s, t) })
}

func TestABodyOfTooManyValuesIsRefusedBeforeItIsRead(t *testing.T) {
	s := webtest.NewEvalSite(t)
	body := `{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":[` + strings.Repeat("{},", 1<<16) + `{}]}}}`
	resp, answer := s.Ask("POST", "/evaluate", body)
	detail, _ := answer["detail"].([]any)
	if resp.StatusCode != 422 || len(detail) != 1 || detail[0].(webtest.Object)["type"] != "too_long" {
		t.Errorf("/evaluate: %s %v", resp.Status, answer)
	}
	if resp, answer := s.Ask("POST", "/api/v1/evaluations", body); resp.StatusCode/100 != 4 ||
		!strings.Contains(fmt.Sprint(answer), "at most 16384 values") {
		t.Errorf("/api/v1/evaluations: %s %v", resp.Status, answer)
	}
	resp, answer = s.Ask("POST", "/evaluate", strings.Replace(body, strings.Repeat("{},", 60000), "", 1))
	if problems, _ := answer["validation_errors"].([]any); resp.StatusCode != 400 || len(problems) == 0 ||
		len(problems) > 102 {
		t.Errorf("arguments without anything: %s, %d problems", resp.Status, len(problems))
	}
}

// TestLaunchSizesThatNoDeviceTakesAreRefusedWithTheirField checks that the site refuses such sizes before it queues the
// evaluation, and names the field. The CUDA driver's error would not name it.
func TestLaunchSizesThatNoDeviceTakesAreRefusedWithTheirField(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for launch, want := range map[string]any{
		`{"grid":{"x":0}}`: problem("kernel -> io -> launch -> grid -> x",
			"Input should be greater than or equal to 1", "greater_than_equal"),
		`{"block":{"y":"-2"}}`: problem("kernel -> io -> launch -> block -> y",
			"Input should be greater than or equal to 1", "greater_than_equal"),
		`{"num_warps":0}`: problem("kernel -> io -> launch -> num_warps",
			"Input should be greater than or equal to 1", "greater_than_equal"),
		`{"num_stages":-1}`: problem("kernel -> io -> launch -> num_stages",
			"Input should be greater than or equal to 0", "greater_than_equal"),
		`{"shared_mem":-1}`: problem("kernel -> io -> launch -> shared_mem",
			"Input should be greater than or equal to 0", "greater_than_equal"),
		`{"grid":{"z":1` + strings.Repeat("0", 20) + `}}`: problem("kernel -> io -> launch -> grid -> z",
			"Unable to parse input string as an integer, exceeded maximum size", "int_parsing_size"),
	} {
		resp, answer := s.Ask("POST", "/evaluate",
			`{"kernel":{"source_code":"__global__ void f() {}","kernel_type":"cuda","io":{"args":[],"launch":`+launch+
				`}}}`)
		if diff := cmp.Diff([]any{want}, answer["validation_errors"]); diff != "" || resp.StatusCode != 400 {
			t.Errorf("%s: %s, (-want +got):\n%s", launch, resp.Status, diff)
		}
	}
}
