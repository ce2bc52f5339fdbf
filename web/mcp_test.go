package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/mcp"
)

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// agent is an SDK client of the site's MCP server.
type agent struct {
	*testing.T
	*sdk.ClientSession
}

func connect(t *testing.T, transport sdk.Transport) agent {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return agent{t, session}
}

func (s *evalSite) agent(t *testing.T, token string) agent {
	t.Helper()
	return connect(t, &sdk.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true})
}

// stdioAgent speaks to a server in this process over pipes, as `warpboard mcp` would.
func (s *evalSite) stdioAgent(t *testing.T) agent {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(ctx, client.New(s.url, s.token), "test", toServer, fromServer) }()
	a := connect(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient})
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stdio server: %v", err)
		}
	})
	return a
}

// call uses a tool and returns its structured answer, or what its error says.
func (a agent) call(tool string, arguments object) (answer object, refused string) {
	a.Helper()
	result, err := a.CallTool(a.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.Fatalf("%s: %v", tool, err)
	}
	if result.IsError {
		return nil, result.Content[0].(*sdk.TextContent).Text
	}
	text, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		a.Fatalf("%s: %v", tool, err)
	}
	return answer, ""
}

func source(code object) string { return code["source_code"].(string) }

// agentsUseEveryTool runs each tool against a site with a real worker. What arrives is the same over HTTP and over
// stdio, and an evaluation costs seconds: each way has half of them.
func (s *evalSite) agentsUseEveryTool(t *testing.T) {
	modelstest.Task(t, s.site.Store, modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator), "vectoradd", "CPU")
	t.Run("http", func(t *testing.T) {
		a := s.agent(t, s.token)
		a.wantTools()
		a.evaluateByArguments()
		a.useBoards()
	})
	t.Run("stdio", func(t *testing.T) {
		a := s.stdioAgent(t)
		a.wantTools()
		a.evaluateByRequests()
		a.useBoards()
	})
}

func (a agent) wantTools() {
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
	want := strings.Fields("cancel_submission compare_kernels compare_runs compare_with_record evaluate_kernel get_board get_job_status get_server_stats get_source get_submission get_task list_tasks my_submissions rank_kernel read_profile submit test_kernel validate_kernel wait_submission")
	if diff := cmp.Diff(want, names); diff != "" {
		a.Error(diff)
	}
}

func (a agent) evaluateByArguments() {
	a.Helper()
	ref := source(torchModel("return x * 2"))
	answer, refused := a.call("evaluate_kernel", object{
		"kernel_source": "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x): return x + x\n", "kernel_type": "torch",
		"reference_kernel_source": ref, "num_trials": 2, "atol": 1e-5,
	})
	if refused != "" || answer["kernel_exec_result"].(object)["speedup"] == nil {
		a.Errorf("evaluate_kernel: %v %s", answer, refused)
	}
	job, refused := a.call("get_job_status", object{"job_id": answer["job_id"]})
	if refused != "" || job["status"] != "completed" || job["result"].(object)["job_id"] != answer["job_id"] {
		a.Errorf("get_job_status: %v %s", job, refused)
	}
	answer, refused = a.call("compare_kernels", object{"ref_kernel_source": ref, "ref_kernel_type": "torch",
		"custom_kernel_source": source(torchModel("return x * 3")), "custom_kernel_type": "torch", "num_trials": 2})
	if refused != "" || answer["kernel_exec_result"].(object)["correctness"] != false {
		a.Errorf("compare_kernels: %v %s", answer, refused)
	}
	answer, refused = a.call("validate_kernel", object{"kernel_source": ref, "kernel_type": "torch",
		"io_contract": object{"args": []any{object{"name": "x", "type": "tensor", "tensor_spec": object{"shape": []int{4}}}}}})
	if refused != "" || answer["compiled"] != true || answer["validated"] != true || answer["compilation_time"] == nil {
		a.Errorf("validate_kernel: %v %s", answer, refused)
	}
	answer, refused = a.call("get_server_stats", object{})
	if refused != "" || answer["throughput"].(object)["completed_requests"].(float64) < 3 {
		a.Errorf("get_server_stats: %v %s", answer, refused)
	}
}

func (a agent) evaluateByRequests() {
	a.Helper()
	answer, refused := a.call("compare_kernels", object{"request": object{
		"ref_kernel": torchModel("return x"), "custom_kernel": torchModel("return x + 1"), "num_trials": 2}})
	if refused != "" || answer["kernel_exec_result"].(object)["correctness"] != false {
		a.Errorf("compare_kernels with a request: %v %s", answer, refused)
	}
	if _, refused = a.call("evaluate_kernel", object{"kernel_type": "torch"}); !strings.Contains(refused, "source_code: Field required") {
		a.Errorf("no source: %q", refused)
	}
	if _, refused = a.call("evaluate_kernel", object{"kernel_source": "x", "kernel_type": "basic"}); !strings.Contains(refused, "Input should be 'torch'") {
		a.Errorf("a wrong kernel type: %q", refused)
	}
}

func (a agent) useBoards() {
	a.Helper()
	answer, refused := a.call("list_tasks", object{})
	if refused != "" || answer["tasks"].([]any)[0].(object)["slug"] != "vectoradd" {
		a.Errorf("list_tasks: %v %s", answer, refused)
	}
	if answer, refused = a.call("get_task", object{"task": "vectoradd"}); refused != "" || answer["lang"] != "cpp" {
		a.Errorf("get_task: %v %s", answer, refused)
	}
	if resource, err := a.ReadResource(a.Context(), &sdk.ReadResourceParams{URI: "warpboard://profile/none"}); err == nil {
		a.Errorf("the profile of no submission: %v", resource)
	}
	made, refused := a.call("submit", object{"task": "vectoradd", "source": "int x;", "file_name": "a.cpp"})
	if refused != "" || made["mode"] != "test" {
		a.Fatalf("submit: %v %s", made, refused)
	}
	if answer, refused = a.call("get_submission", object{"id": made["id"]}); refused != "" || answer["task"] != "vectoradd" {
		a.Errorf("get_submission: %v %s", answer, refused)
	}
	if answer, refused = a.call("get_board", object{"task": "vectoradd", "device": "CPU"}); refused != "" || answer["total"] != 0.0 {
		a.Errorf("get_board: %v %s", answer, refused)
	}
	if _, refused = a.call("get_task", object{"task": "nothing"}); !strings.Contains(refused, "no task") {
		a.Errorf("a task that is not there: %q", refused)
	}
}

func TestAgentsNeedATokenUnlessTheAPIIsOpen(t *testing.T) {
	closed := newEvalSite(t)
	transport := &sdk.StreamableClientTransport{Endpoint: closed.url + "/mcp", DisableStandaloneSSE: true}
	if _, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil); err == nil {
		t.Error("an agent without a token was let in")
	}
	open := newEvalSite(t, func(c *Config) { c.OpenEvalAPI = "loopback" }).agent(t, "")
	if _, refused := open.call("get_server_stats", object{}); refused != "" {
		t.Errorf("get_server_stats: %s", refused)
	}
	if _, refused := open.call("validate_kernel", object{"kernel_source": "x", "kernel_type": "triton"}); !strings.Contains(refused, "io_contract") {
		t.Errorf("an open evaluation: %q", refused)
	}
	if _, refused := open.call("submit", object{"task": "t", "source": "x", "file_name": "a.cpp"}); !strings.Contains(refused, "Sign in") {
		t.Errorf("a submission of no one: %q", refused)
	}
}
