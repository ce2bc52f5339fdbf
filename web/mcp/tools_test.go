package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/models/work"
	"warpboard/web/mcp"
	"warpboard/web/webtest"
)

// mostToolList limits the bytes that the list of tools takes of an agent's context.
const mostToolList = 21_800

func TestTheListOfToolsIsShort(t *testing.T) {
	s := webtest.NewEvalSite(t)
	list, err := s.Agent(t, s.Token).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	size := map[string]int{}
	for _, tool := range list.Tools {
		answer, arguments := webtest.JSONText(tool.OutputSchema), webtest.JSONText(tool.InputSchema)
		size["answers"] += len(answer)
		size["arguments"] += len(arguments)
		if tool.OutputSchema == nil || !strings.Contains(answer, `"properties"`) && tool.Name != "get_server_stats" {
			t.Errorf("%s does not say what it answers", tool.Name)
		}
	}
	if whole := len(webtest.JSONText(list)); whole > mostToolList {
		t.Errorf("the list has %d bytes (%v), more than %d", whole, size, mostToolList)
	}
}

func TestAgentsReadWhatIsWrongWithTheirArguments(t *testing.T) {
	s := webtest.NewEvalSite(t)
	a := s.Agent(t, s.Token)
	for _, test := range []struct {
		tool      string
		arguments webtest.Object
		says      string
	}{
		{"get_task", webtest.Object{}, `get_task needs the argument "task": slug of the task, from list_tasks.`},
		{"get_task", webtest.Object{"tsak": "sort"}, `get_task has no argument "tsak"; did you mean "task"?`},
		{"get_task", webtest.Object{"task": "sort", "color": 1}, `get_task has no argument "color"; it takes task.`},
		{"list_tasks", webtest.Object{"color": 1}, `list_tasks has no argument "color"; it takes none.`},
		{"get_submission", webtest.Object{"id": "three"},
			`get_submission: the argument "id" must be an integer, not "three".`},
		{"get_submission", webtest.Object{"id": 3.5}, `get_submission: the argument "id" must be an integer, not 3.5.`},
		{"get_submission", webtest.Object{"id": nil},
			`get_submission: the argument "id" must be an integer, not null.`},
		{"get_submission", webtest.Object{"id": 1e30},
			`get_submission: the argument "id" must be an integer, not 1e+30.`},
		{"submit", webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp", "devices": "CPU"},
			`submit: the argument "devices" must be an array, not "CPU".`},
		{"submit", webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp", "devices": []any{"CPU", 5}},
			`submit: the argument "devices[1]" must be a string, not 5.`},
		{"submit", webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp", "files": webtest.Object{"a.h": 1}},
			`submit: the argument "files.a.h" must be a string, not 1.`},
		{"submit", webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp", "mode": "profile",
			"profile_filter": webtest.Object{"name": "k"}},
			`submit: the argument "profile_filter" has benchmark, kernel, kernel_name_base, launch_skip, launch_count and sections: json: unknown field "name"`},
		{"submit", webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp",
			"profile_filter": webtest.Object{"kernel": "k"}}, `There is no task "t".`},
		{"get_task", webtest.Object{"task": ""}, `There is no task "".`},
		{"evaluate_kernel", webtest.Object{"kernel_source": "x", "kernel_type": "torch", "num_trials": 0},
			`num_trials must be at least 1.`},
		{"compare_kernels", webtest.Object{"ref_kernel_source": "x", "ref_kernel_type": "torch",
			"custom_kernel_source": "x", "custom_kernel_type": "torch", "timeout": 0},
			`timeout must be at least 5 seconds.`},
		{"validate_kernel", webtest.Object{"kernel_source": "x", "kernel_type": "torch", "timeout": 0},
			`timeout must be at least 5 seconds.`},
		{"evaluate_kernel", webtest.Object{"enable_device_metrics": "yes"},
			`evaluate_kernel: the argument "enable_device_metrics" must be a boolean, not "yes".`},
	} {
		if answer, refused := a.Call(test.tool, test.arguments); refused != test.says {
			t.Errorf("%s %v: %v %q, want %q", test.tool, test.arguments, answer, refused, test.says)
		}
	}
	if _, refused := a.Call("get_task",
		webtest.Object{"task": strings.Repeat("x", mcp.MaxBytesOutsideSources/3),
			"id": strings.Repeat("y", mcp.MaxBytesOutsideSources/3)}); len(refused) > 300 {
		t.Errorf("an error repeats %d bytes of what was sent", len(refused))
	}
}

func TestAPromptNeedsItsTask(t *testing.T) {
	s := webtest.NewEvalSite(t)
	a := s.Agent(t, s.Token)
	for _, arguments := range []map[string]string{nil, {"task": ""}, {"tsak": "sort"}} {
		var wire *jsonrpc.Error
		_, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "climb", Arguments: arguments})
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams ||
			!strings.Contains(wire.Message, `climb needs the argument "task"`) {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestAResourceThatCannotBeReadHasACodeAndASentence(t *testing.T) {
	s := webtest.NewEvalSite(t)
	a := s.Agent(t, s.Token)
	for uri, want := range map[string]struct {
		code int64
		says string
	}{
		"warpboard://tasks/none":              {jsonrpc.CodeInvalidParams, "There is no task"},
		"warpboard://boards/none/CPU":         {jsonrpc.CodeInvalidParams, "There is no task"},
		"warpboard://reference/none":          {jsonrpc.CodeInvalidParams, "There is no task"},
		"warpboard://comments/tasks/none":     {jsonrpc.CodeInvalidParams, "There is no task"},
		"warpboard://comments/submissions/99": {jsonrpc.CodeInvalidParams, "There is no submission"},
		"warpboard://comments/submissions/x":  {jsonrpc.CodeInvalidParams, "Resource not found"},
		"warpboard://profile/99":              {jsonrpc.CodeInvalidParams, "There is no submission"},
		"warpboard://profile/none":            {jsonrpc.CodeInvalidParams, "Resource not found"},
		"warpboard://nothing":                 {jsonrpc.CodeInvalidParams, "Resource not found"},
	} {
		_, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != want.code || !strings.Contains(wire.Message, want.says) {
			t.Errorf("%s: %v, want code %d and %q", uri, err, want.code, want.says)
			continue
		}
		var data struct{ URI string }
		if err := json.Unmarshal(wire.Data, &data); err != nil || data.URI != uri {
			t.Errorf("%s: its error is about %s", uri, wire.Data)
		}
	}
}

func TestGetJobStatusWaitsForTheEnd(t *testing.T) {
	s := webtest.NewEvalSite(t)
	a, messages := hearing(t, &sdk.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: webtest.Bearer(s.Token)},
		DisableStandaloneSSE: true})
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")})
	params := &sdk.CallToolParams{Name: "get_job_status", Arguments: webtest.Object{"job_id": made["id"]}}
	params.SetProgressToken("p")
	ended := make(chan string, 1)
	go func() {
		result, err := a.CallTool(a.Context(), params)
		ended <- fmt.Sprint(webtest.JSONText(result), err)
	}()
	select {
	case <-messages: // a progress message: the call is running
	case answer := <-ended:
		t.Fatalf("the answer came before the end: %s", answer)
	}
	if answer, refused := s.Agent(t, s.Token).Call("get_job_status",
		webtest.Object{"job_id": made["id"], "wait": 0}); answer["ended"] != false {
		t.Errorf("an answer at once: %v %s", answer, refused)
	}
	s.Finish(work.Evaluation{ID: made["id"].(string)})
	if answer := <-ended; !strings.Contains(answer, `"ended":true`) {
		t.Error(answer)
	}
}
