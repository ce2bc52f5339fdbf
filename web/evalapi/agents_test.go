package evalapi_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/mcp"
	"warpboard/web/webtest"
)

// stdioAgent speaks to a server in this process over pipes, as `warpboard mcp` would.
func stdioAgent(s *webtest.EvalSite, t *testing.T) webtest.Agent {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(ctx, client.New(s.URL, s.Token), "test", toServer, fromServer) }()
	a := webtest.Connect(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient})
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stdio server: %v", err)
		}
	})
	return a
}

func source(code webtest.Object) string { return code["source_code"].(string) }

// agentsUseEveryTool calls each tool of a site with a real worker. An evaluation takes seconds, so half of the
// evaluations are sent over HTTP and half over stdio, which return the same.
func agentsUseEveryTool(s *webtest.EvalSite, t *testing.T) {
	modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "vectoradd",
		"CPU")
	t.Run("http", func(t *testing.T) {
		a := s.Agent(t, s.Token)
		wantTools(a)
		evaluateByArguments(a)
		useBoards(a)
	})
	t.Run("stdio", func(t *testing.T) {
		a := stdioAgent(s, t)
		wantTools(a)
		evaluateByRequests(a)
		useBoards(a)
	})
}

func wantTools(a webtest.Agent) {
	a.Helper()
	list, err := a.ListTools(a.Context(), nil)
	if err != nil {
		a.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if notes := tool.Annotations; tool.OutputSchema == nil || !notes.ReadOnlyHint && notes.DestructiveHint == nil {
			a.Errorf("%s does not say what it answers, or whether it destroys", tool.Name)
		}
	}
	slices.Sort(names)
	want := strings.Fields(
		"cancel_submission compare_kernels compare_runs compare_with_record compile_kernel evaluate_kernel get_board get_job_status get_server_stats get_source get_submission get_task list_tasks my_submissions rank_kernel read_profile submit test_kernel validate_kernel wait_submission")
	if diff := cmp.Diff(want, names); diff != "" {
		a.Error(diff)
	}
}

func evaluateByArguments(a webtest.Agent) {
	a.Helper()
	ref := source(webtest.TorchModel("return x * 2"))
	answer, refused := a.Call("evaluate_kernel", webtest.Object{
		"kernel_source":           "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x): return x + x\n",
		"kernel_type":             "torch",
		"reference_kernel_source": ref, "num_trials": 2, "atol": 1e-5,
	})
	if refused != "" || answer["kernel_exec_result"].(webtest.Object)["speedup"] == nil {
		a.Errorf("evaluate_kernel: %v %s", answer, refused)
	}
	job, refused := a.Call("get_job_status", webtest.Object{"job_id": answer["job_id"]})
	if refused != "" || job["status"] != "completed" || job["result"].(webtest.Object)["job_id"] != answer["job_id"] {
		a.Errorf("get_job_status: %v %s", job, refused)
	}
	answer, refused = a.Call("compare_kernels", webtest.Object{"ref_kernel_source": ref, "ref_kernel_type": "torch",
		"custom_kernel_source": source(webtest.TorchModel("return x * 3")), "custom_kernel_type": "torch",
		"num_trials": 2})
	if refused != "" || answer["kernel_exec_result"].(webtest.Object)["correctness"] != false {
		a.Errorf("compare_kernels: %v %s", answer, refused)
	}
	answer, refused = a.Call("validate_kernel", webtest.Object{"kernel_source": ref, "kernel_type": "torch",
		"io_contract": webtest.Object{"args": []any{webtest.Object{"name": "x", "type": "tensor",
			"tensor_spec": webtest.Object{"shape": []int{4}}}}}})
	if refused != "" || answer["compiled"] != true || answer["validated"] != true || answer["compilation_time"] == nil {
		a.Errorf("validate_kernel: %v %s", answer, refused)
	}
	answer, refused = a.Call("get_server_stats", webtest.Object{})
	if refused != "" || answer["throughput"].(webtest.Object)["completed_requests"].(float64) < 3 {
		a.Errorf("get_server_stats: %v %s", answer, refused)
	}
}

func evaluateByRequests(a webtest.Agent) {
	a.Helper()
	answer, refused := a.Call("compare_kernels", webtest.Object{"request": webtest.Object{
		"ref_kernel": webtest.TorchModel("return x"), "custom_kernel": webtest.TorchModel("return x + 1"),
		"num_trials": 2}})
	if refused != "" || answer["kernel_exec_result"].(webtest.Object)["correctness"] != false {
		a.Errorf("compare_kernels with a request: %v %s", answer, refused)
	}
	if _, refused = a.Call("evaluate_kernel", webtest.Object{"kernel_type": "torch"}); !strings.Contains(refused,
		"source_code: Field required") {
		a.Errorf("no source: %q", refused)
	}
	if _, refused = a.Call("evaluate_kernel",
		webtest.Object{"kernel_source": "x", "kernel_type": "basic"}); !strings.Contains(refused,
		"Input should be 'torch'") {
		a.Errorf("a wrong kernel type: %q", refused)
	}
}

func useBoards(a webtest.Agent) {
	a.Helper()
	answer, refused := a.Call("list_tasks", webtest.Object{})
	if refused != "" || answer["tasks"].([]any)[0].(webtest.Object)["slug"] != "vectoradd" {
		a.Errorf("list_tasks: %v %s", answer, refused)
	}
	if answer, refused = a.Call("get_task", webtest.Object{"task": "vectoradd"}); refused != "" ||
		answer["lang"] != "cpp" {
		a.Errorf("get_task: %v %s", answer, refused)
	}
	if resource, err := a.ReadResource(a.Context(),
		&sdk.ReadResourceParams{URI: "warpboard://profile/none"}); err == nil {
		a.Errorf("the profile of no submission: %v", resource)
	}
	made, refused := a.Call("submit", webtest.Object{"task": "vectoradd", "source": "int x;", "file_name": "a.cpp"})
	if refused != "" || made["mode"] != "test" {
		a.Fatalf("submit: %v %s", made, refused)
	}
	if answer, refused = a.Call("get_submission", webtest.Object{"id": made["id"]}); refused != "" ||
		answer["task"] != "vectoradd" {
		a.Errorf("get_submission: %v %s", answer, refused)
	}
	if answer, refused = a.Call("get_board", webtest.Object{"task": "vectoradd", "device": "CPU"}); refused != "" ||
		answer["total"] != 0.0 {
		a.Errorf("get_board: %v %s", answer, refused)
	}
	if _, refused = a.Call("get_task", webtest.Object{"task": "nothing"}); !strings.Contains(refused, "no task") {
		a.Errorf("a task that is not there: %q", refused)
	}
}
