package evalapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/webtest"
)

// problem is one entry of validation_errors.
func problem(field, message, kind string) any {
	return webtest.Object{"field": field, "message": message, "type": kind}
}

// missing is the problem of a field that is not there.
func missing(field string) any { return problem(field, "Field required", "missing") }

func TestBodiesThatCannotBeReadAreAnsweredFieldByField(t *testing.T) {
	s := webtest.NewEvalSite(t)
	kernel := func(change webtest.Object) webtest.Object {
		code := webtest.Object{"source_code": "x", "kernel_type": "torch"}
		for k, v := range change {
			if code[k] = v; v == nil {
				delete(code, k)
			}
		}
		return webtest.Object{"kernel": code}
	}
	io := func(args ...any) webtest.Object { return kernel(webtest.Object{"io": webtest.Object{"args": args}}) }
	tensor := func(spec any) webtest.Object {
		return io(webtest.Object{"name": "a", "type": "tensor", "tensor_spec": spec})
	}
	grid := func(grid any) webtest.Object {
		return kernel(webtest.Object{"io": webtest.Object{"args": []any{}, "launch": webtest.Object{"grid": grid}}})
	}
	const notInt = "Input should be a valid integer, unable to parse string as an integer"
	const dtypeWanted = "Input should be 'float64', 'float32', 'float16', 'bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz', 'float8_e5m2fnuz', 'float8_e8m0fnu', 'float4_e2m1fn_x2', 'int64', 'int32', 'int16', 'int8', 'uint64', 'uint32', 'uint16', 'uint8', 'bool', 'complex64' or 'complex128'"
	tests := []struct {
		name, path string
		body       webtest.Object
		want       []any
	}{
		{"no kernel", "/evaluate", webtest.Object{}, []any{missing("kernel")}},
		{"the other endpoint's body", "/evaluate", webtest.Object{"ref_kernel": webtest.Object{}},
			[]any{missing("kernel")}},
		{"nothing to compare", "/compare", webtest.Object{}, []any{missing("ref_kernel"), missing("custom_kernel")}},
		{"half of the older form", "/", webtest.Object{"ref_code": "x"},
			[]any{missing("ref_kernel"), missing("custom_kernel")}},
		{"no kernel type", "/evaluate", kernel(webtest.Object{"kernel_type": nil}),
			[]any{missing("kernel -> kernel_type")}},
		{"unknown kernel type", "/evaluate", kernel(webtest.Object{"kernel_type": "Torches"}), []any{
			problem("kernel -> kernel_type",
				"Input should be 'torch', 'cuda', 'triton', 'torch_cuda' or 'multi_kernel'", "enum")}},
		{"unknown field in a kernel", "/evaluate", kernel(webtest.Object{"extra": 1}), []any{
			problem("kernel -> extra", "Extra inputs are not permitted", "extra_forbidden")}},
		{"kernel of another type", "/evaluate", webtest.Object{"kernel": "x"}, []any{
			problem("kernel", "Input should be a valid dictionary or instance of KernelCode", "model_type")}},
		{"source that is no text", "/evaluate", kernel(webtest.Object{"source_code": 3}), []any{
			problem("kernel -> source_code", "Input should be a valid string", "string_type")}},
		{"metadata that is text", "/evaluate", kernel(webtest.Object{"metadata": "x"}), []any{
			problem("kernel -> metadata -> BaseKernelMetadata",
				"Input should be a valid dictionary or instance of BaseKernelMetadata", "model_type"),
			problem("kernel -> metadata -> dict[str,any]", "Input should be a valid dictionary", "dict_type")}},
		{"argument without a name", "/evaluate", io(webtest.Object{"type": "int"}),
			[]any{missing("kernel -> io -> args -> 0 -> name")}},
		{"contract without arguments", "/evaluate", kernel(webtest.Object{"io": webtest.Object{}}),
			[]any{missing("kernel -> io -> args")}},
		{"arguments that are no list", "/evaluate", kernel(webtest.Object{"io": webtest.Object{"args": 1}}), []any{
			problem("kernel -> io -> args", "Input should be a valid list", "list_type")}},
		{"symbolic shape", "/evaluate", tensor(webtest.Object{"shape": []any{"batch"}}), []any{
			problem("kernel -> io -> args -> 0 -> tensor_spec -> shape -> 0", notInt, "int_parsing")}},
		{"data without bytes", "/evaluate", tensor(webtest.Object{"data": webtest.Object{}}),
			[]any{missing("kernel -> io -> args -> 0 -> tensor_spec -> data -> data_b64")}},
		{"grid that is a list", "/evaluate", grid([]int{4}), []any{
			problem("kernel -> io -> launch -> grid", "Input should be a valid dictionary or instance of LaunchDim",
				"model_type")}},
		{"grid of nonsense", "/evaluate", grid(webtest.Object{"x": "3; rm"}),
			[]any{problem("kernel -> io -> launch -> grid -> x", notInt, "int_parsing")}},
		{"value of no scalar type", "/evaluate", io(webtest.Object{"name": "n", "type": "int", "value": []int{1}}),
			[]any{
				problem("kernel -> io -> args -> 0 -> value -> int", "Input should be a valid integer", "int_type"),
				problem("kernel -> io -> args -> 0 -> value -> float", "Input should be a valid number", "float_type"),
				problem("kernel -> io -> args -> 0 -> value -> str", "Input should be a valid string", "string_type"),
				problem("kernel -> io -> args -> 0 -> value -> bool", "Input should be a valid boolean", "bool_type")}},
		{"role that is none", "/evaluate",
			io(webtest.Object{"name": "a", "type": "tensor", "tensor_spec": webtest.Object{"shape": []int{4}},
				"role": "in"}), []any{
				problem("kernel -> io -> args -> 0 -> role", "Input should be 'input', 'output' or 'inout'", "enum")}},
		{"type that no argument has", "/evaluate", io(webtest.Object{"name": "n", "type": "double", "value": 1}), []any{
			problem("kernel -> io -> args -> 0 -> type", "Input should be 'tensor', 'int', 'float', 'str' or 'bool'",
				"enum")}},
		{"unknown dtype", "/evaluate", tensor(webtest.Object{"dtype": "float7"}), []any{
			problem("kernel -> io -> args -> 0 -> tensor_spec -> dtype", dtypeWanted, "enum")}},
		{"unknown dtype of data", "/evaluate",
			tensor(webtest.Object{"data": webtest.Object{"data_b64": "", "dtype": "torch.float32"}}), []any{
				problem("kernel -> io -> args -> 0 -> tensor_spec -> data -> dtype", dtypeWanted, "enum")}},
		{"unknown init", "/evaluate", tensor(webtest.Object{"init": webtest.Object{"kind": "normal"}}), []any{
			problem("kernel -> io -> args -> 0 -> tensor_spec -> init -> kind",
				"Input should be 'randn', 'uniform', 'zeros', 'ones', 'full' or 'arange'", "enum")}},
		{"unknown compression", "/evaluate",
			tensor(webtest.Object{"data": webtest.Object{"data_b64": "", "compress": "gzip"}}), []any{
				problem("kernel -> io -> args -> 0 -> tensor_spec -> data -> compress",
					"Input should be 'none' or 'zlib'",
					"enum")}},
		{"scalar without a value", "/evaluate", io(webtest.Object{"name": "n", "type": "int"}), []any{
			problem("kernel -> io -> args -> 0 -> value", "Scalar argument 'n' requires value", "missing")}},
		{"tensor without a spec", "/evaluate", io(webtest.Object{"name": "a", "type": "tensor"}), []any{
			problem("kernel -> io -> args -> 0 -> tensor_spec", "Tensor argument 'a' requires tensor_spec",
				"missing")}},
		{"value of another type", "/evaluate",
			io(webtest.Object{"name": "n", "type": "int", "value": 2.7},
				webtest.Object{"name": "b", "type": "bool", "value": "maybe"},
				webtest.Object{"name": "f", "type": "float", "value": "x"}), []any{
				problem("kernel -> io -> args -> 0 -> value",
					"Input should be a valid integer, got a number with a fractional part", "int_from_float"),
				problem("kernel -> io -> args -> 1 -> value",
					"Input should be a valid boolean, unable to interpret input",
					"bool_parsing"),
				problem("kernel -> io -> args -> 2 -> value",
					"Input should be a valid number, unable to parse string as a number", "float_parsing")}},
		{"part of a trial", "/evaluate", webtest.Object{"kernel": kernel(nil)["kernel"], "num_trials": 12.5}, []any{
			problem("num_trials", "Input should be a valid integer, got a number with a fractional part",
				"int_from_float")}},
		{"no trials", "/evaluate", webtest.Object{"kernel": kernel(nil)["kernel"], "num_trials": nil}, []any{
			problem("num_trials", "Input should be a valid integer", "int_type")}},
		{"trials in words", "/evaluate", webtest.Object{"kernel": kernel(nil)["kernel"], "num_trials": "many"},
			[]any{problem("num_trials", notInt, "int_parsing")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, s, tt.path, tt.body,
				webtest.Object{"error": "Invalid request format", "status": "client_error",
					"validation_errors": tt.want})
		})
	}
}

// refused fails the test unless the API refuses a body with exactly this answer, and forbids caching it.
func refused(t *testing.T, s *webtest.EvalSite, path string, body, want webtest.Object) {
	t.Helper()
	resp, answer := s.Ask("POST", path, body)
	if diff := cmp.Diff(want, answer); diff != "" || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d, (-want +got):\n%s", resp.StatusCode, diff)
	}
	wantNoCache(t, resp)
}

func wantNoCache(t *testing.T, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{"Cache-Control": "no-cache, no-store, must-revalidate",
		"Pragma": "no-cache", "Expires": "0"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestValuesOutOfRangeAreAnsweredInOrder(t *testing.T) {
	s := webtest.NewEvalSite(t)
	torch, triton := webtest.TorchModel("return x"), webtest.Object{"source_code": "x", "kernel_type": "triton"}
	for _, tt := range []struct {
		path    string
		body    webtest.Object
		message string
		details webtest.Object
	}{
		{"/evaluate", webtest.Object{"kernel": torch, "num_trials": 0, "timeout": 2}, "num_trials must be at least 1",
			webtest.Object{"num_trials": 0.0}},
		{"/evaluate", webtest.Object{"kernel": torch, "num_trials": "10001"}, "num_trials cannot exceed 10000",
			webtest.Object{"num_trials": 10001.0}},
		{"/evaluate", webtest.Object{"kernel": torch, "timeout": 2}, "timeout must be at least 5 seconds",
			webtest.Object{"timeout": 2.0}},
		{"/evaluate", webtest.Object{"kernel": triton, "timeout": 3.0}, "timeout must be at least 5 seconds",
			webtest.Object{"timeout": 3.0}},
		{"/evaluate", webtest.Object{"kernel": torch, "timeout": 601}, "timeout cannot exceed 600 seconds",
			webtest.Object{"timeout": 601.0}},
		{"/evaluate", webtest.Object{"kernel": triton}, "Triton kernels require io_contract to be specified",
			webtest.Object{"kernel_type": "triton"}},
		{"/compare", webtest.Object{"ref_kernel": triton, "custom_kernel": triton},
			"Triton kernels require io_contract to be specified",
			webtest.Object{"kernel_type": "triton", "kernel": "ref_kernel"}},
		{"/", webtest.Object{"ref_kernel": torch, "custom_kernel": triton},
			"Triton kernels require io_contract to be specified",
			webtest.Object{"kernel_type": "triton", "kernel": "custom_kernel"}},
		{"/evaluate", webtest.Object{"kernel": torch, "gpu_type": "b300"},
			"gpu_type 'b300' is not attached; there are: cpu",
			webtest.Object{"gpu_type": "b300", "available": []any{"cpu"}}},
	} {
		refused(t, s, tt.path, tt.body,
			webtest.Object{"error": tt.message, "details": tt.details, "status": "client_error"})
	}
}

func TestABodyThatIsNoObjectIsFastAPIsAnswer(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for _, tt := range []struct{ body, contentType, kind string }{
		{"{", "application/json", "json_invalid"},
		{"{} {}", "application/json", "json_invalid"},
		{"[]", "application/json; charset=utf-8", "dict_type"},
		{"{}", "text/plain", "dict_type"},
		{"", "application/json", "missing"},
	} {
		resp, answer := s.Ask("POST", "/evaluate", tt.body, "Content-Type", tt.contentType)
		detail, ok := answer["detail"].([]any)
		if resp.StatusCode != 422 || !ok || detail[0].(webtest.Object)["type"] != tt.kind {
			t.Errorf("%q as %s: %d %v", tt.body, tt.contentType, resp.StatusCode, answer)
		}
	}
	if resp, answer := s.Ask("POST", "/evaluate", "{}", "Content-Type", ""); resp.StatusCode != 400 {
		t.Errorf("without a content type: %d %v", resp.StatusCode, answer)
	}
}

func TestAnotherMethodIsNotAllowed(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for address, allowed := range map[string]string{"GET /evaluate": "POST", "PUT /evaluate": "POST",
		"POST /stats": "GET", "DELETE /job/x": "GET", "GET /admin/cleanup-jobs": "POST"} {
		method, path, _ := strings.Cut(address, " ")
		resp, answer := s.Ask(method, path, nil)
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != allowed || answer["detail"] != "Method Not Allowed" {
			t.Errorf("%s: %s %v", address, resp.Status, answer)
		}
	}
}

func TestASilentProxyDoesNotOpenAPublicSite(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) {
		c.TokenlessEvaluators, c.BaseURL = "loopback",
			"https://boards.example.org"
	})
	if resp, answer := s.Ask("POST", "/evaluate", webtest.Object{}, "Authorization", ""); resp.StatusCode != 401 {
		t.Errorf("status %d: %v", resp.StatusCode, answer)
	}
}

func TestUnknownJobIsNotFound(t *testing.T) {
	resp, answer := webtest.NewEvalSite(t).Ask("GET", "/job/none", nil)
	if diff := cmp.Diff(webtest.Object{"error": "Job none not found", "status": "error"}, answer); diff != "" ||
		resp.StatusCode != 404 {
		t.Errorf("status %d, (-want +got):\n%s", resp.StatusCode, diff)
	}
}

func TestRightsToEvaluate(t *testing.T) {
	for _, tt := range []struct {
		name    string
		open    string
		headers []string
		status  int
	}{
		{"no one without a token", "none", nil, 401},
		{"not with a wrong token", "all", []string{"Authorization", "Bearer wb_wrong"}, 401},
		{"this machine", "loopback", nil, 400},
		{"not through a proxy", "loopback", []string{"X-Forwarded-For", "10.0.0.9"}, 401},
		{"not a page of another site", "loopback", []string{"Sec-Fetch-Site", "cross-site"}, 401},
		{"everyone", "all", []string{"X-Forwarded-For", "10.0.0.9"}, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = tt.open })
			resp, answer := s.Ask("POST", "/evaluate", webtest.Object{},
				append([]string{"Authorization", ""}, tt.headers...)...)
			if resp.StatusCode != tt.status || answer["status"] != "client_error" {
				t.Errorf("status %d: %v", resp.StatusCode, answer)
			}
		})
	}
}

func TestTooManyAtOnceAndTooLargeAreRefused(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxLive, c.EvalLimits.MaxBodyBytes = 1, 4096 })
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Send(ctx, "POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")})
		left <- err
	}()
	first := s.WaitForState(work.EvaluationSubmitted)
	resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")})
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" ||
		!strings.Contains(answer["error"].(string), "Wait for one to end") {
		t.Errorf("a second at once: %d %v", resp.StatusCode, answer)
	}
	another, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.User.ID, "another", 0)
	if err != nil {
		t.Fatal(err)
	}
	if resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")},
		"Authorization", "Bearer "+another); resp.StatusCode != 429 {
		t.Errorf("a second at once with another token of the person: %d %v", resp.StatusCode, answer)
	}
	leave()
	if err := <-left; err == nil {
		t.Error("the first request was answered")
	}
	if e := s.WaitForState(work.EvaluationCancelled); e.ID != first.ID {
		t.Errorf("cancelled: %+v", e)
	}
	if resp, answer := s.Ask("POST", "/evaluate", strings.Repeat(" ", 5000)); resp.StatusCode != 413 {
		t.Errorf("too large: %s %v", resp.Status, answer)
	}
}

func TestWithoutADeviceTheAnswerSaysSo(t *testing.T) {
	var later atomic.Int64
	s := webtest.NewEvalSite(t, func(c *web.Config) {
		c.Now = func() time.Time { return time.Now().UTC().Add(time.Duration(later.Load())) }
	})
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(), "delete from workers"); err != nil {
		t.Fatal(err)
	}
	resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")})
	if resp.StatusCode != 503 || !strings.Contains(answer["error"].(string), "workers are starting") {
		t.Errorf("in the first minute: %d %v", resp.StatusCode, answer)
	}
	later.Store(int64(2 * time.Minute))
	resp, answer = s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")})
	if resp.StatusCode != 503 || !strings.Contains(answer["error"].(string), "PyTorch") ||
		resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", resp.StatusCode, answer)
	}
}

func TestTheHealthOfAnIdleSite(t *testing.T) {
	_, answer := webtest.NewEvalSite(t).Ask("GET", "/health", nil)
	want := webtest.Object{"status": "healthy", "gpu_manager": webtest.Object{"available_gpus": 1.0},
		"backends":  []any{"torch", "multi_kernel"},
		"job_stats": webtest.Object{"total_jobs": 0.0, "by_status": webtest.Object{}, "average_age": 0.0}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
}

func TestTheHealthListsWhatTheAttachedDevicesCanEvaluate(t *testing.T) {
	s := webtest.NewEvalSite(t)
	backends := func() any { _, answer := s.Ask("GET", "/health", nil); return answer["backends"] }
	for _, tt := range []struct {
		slot job.Slot
		want []any
	}{
		{job.Slot{Device: "H200", Machine: job.Machine{Torch: "2.9", Triton: "3.5", CompilerVersion: "nvcc 13.0"}},
			[]any{"torch", "cuda", "triton", "torch_cuda", "multi_kernel"}},
		{job.Slot{Device: "H200", Machine: job.Machine{Torch: "2.9"}}, []any{"torch", "cuda", "multi_kernel"}},
		{job.Slot{Device: "H200"}, []any{}},
		{job.Slot{Device: "CPU", Machine: job.Machine{Torch: "2.9", Triton: "3.5", CompilerVersion: "g++ 14"}},
			[]any{"torch", "multi_kernel"}},
	} {
		modelstest.RecordHeartbeat(t, s.Cfg.Store,
			job.Heartbeat{Worker: "w1", Time: time.Now(), WorkerStartedAt: time.Now(), Slots: []job.Slot{tt.slot}})
		if diff := cmp.Diff(tt.want, backends()); diff != "" {
			t.Errorf("%+v:\n%s", tt.slot, diff)
		}
	}
}
