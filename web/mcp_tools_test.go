package web

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
)

// mostToolList is what the list of tools may take of an agent's context, in bytes.
const mostToolList = 21_000

func TestTheListOfToolsIsShort(t *testing.T) {
	s := newEvalSite(t)
	list, err := s.agent(t, s.token).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	size := map[string]int{}
	for _, tool := range list.Tools {
		answer, arguments := jsonText(tool.OutputSchema), jsonText(tool.InputSchema)
		size["answers"] += len(answer)
		size["arguments"] += len(arguments)
		if tool.OutputSchema == nil || !strings.Contains(answer, `"properties"`) && tool.Name != "get_server_stats" {
			t.Errorf("%s does not say what it answers", tool.Name)
		}
	}
	if whole := len(jsonText(list)); whole > mostToolList {
		t.Errorf("the list has %d bytes (%v), more than %d", whole, size, mostToolList)
	}
}

func TestAgentsReadWhatIsWrongWithTheirArguments(t *testing.T) {
	s := newEvalSite(t)
	a := s.agent(t, s.token)
	for _, test := range []struct {
		tool      string
		arguments object
		says      string
	}{
		{"get_task", object{}, `get_task needs the argument "task": slug of the task, from list_tasks.`},
		{"get_task", object{"tsak": "sort"}, `get_task has no argument "tsak"; did you mean "task"?`},
		{"get_task", object{"task": "sort", "color": 1}, `get_task has no argument "color"; it takes task.`},
		{"list_tasks", object{"color": 1}, `list_tasks has no argument "color"; it takes none.`},
		{"get_submission", object{"id": "three"}, `get_submission: the argument "id" must be an integer, not "three".`},
		{"get_submission", object{"id": 3.5}, `get_submission: the argument "id" must be an integer, not 3.5.`},
		{"get_submission", object{"id": nil}, `get_submission: the argument "id" must be an integer, not null.`},
		{"get_submission", object{"id": 1e30}, `get_submission: the argument "id" must be an integer, not 1e+30.`},
		{"submit", object{"task": "t", "source": "x", "file_name": "a.cpp", "devices": "CPU"}, `submit: the argument "devices" must be an array, not "CPU".`},
		{"submit", object{"task": "t", "source": "x", "file_name": "a.cpp", "devices": []any{"CPU", 5}}, `submit: the argument "devices[1]" must be a string, not 5.`},
		{"submit", object{"task": "t", "source": "x", "file_name": "a.cpp", "files": object{"a.h": 1}}, `submit: the argument "files.a.h" must be a string, not 1.`},
		{"get_task", object{"task": ""}, `There is no task "".`},
		{"evaluate_kernel", object{"kernel_source": "x", "kernel_type": "torch", "num_trials": 0}, `num_trials must be at least 1.`},
		{"compare_kernels", object{"ref_kernel_source": "x", "ref_kernel_type": "torch", "custom_kernel_source": "x", "custom_kernel_type": "torch", "timeout": 0}, `timeout must be at least 5 seconds.`},
		{"validate_kernel", object{"kernel_source": "x", "kernel_type": "torch", "timeout": 0}, `timeout must be at least 5 seconds.`},
		{"evaluate_kernel", object{"enable_device_metrics": "yes"}, `evaluate_kernel: the argument "enable_device_metrics" must be a boolean, not "yes".`},
	} {
		if answer, refused := a.call(test.tool, test.arguments); refused != test.says {
			t.Errorf("%s %v: %v %q, want %q", test.tool, test.arguments, answer, refused, test.says)
		}
	}
	if _, refused := a.call("get_task", object{"task": strings.Repeat("x", mcp.MostAside/3), "id": strings.Repeat("y", mcp.MostAside/3)}); len(refused) > 300 {
		t.Errorf("an error repeats %d bytes of what was sent", len(refused))
	}
}

func TestAPromptNeedsItsTask(t *testing.T) {
	s := newEvalSite(t)
	a := s.agent(t, s.token)
	for _, arguments := range []map[string]string{nil, {"task": ""}, {"tsak": "sort"}} {
		var wire *jsonrpc.Error
		_, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "climb", Arguments: arguments})
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, `climb needs the argument "task"`) {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestAResourceThatCannotBeReadHasACodeAndASentence(t *testing.T) {
	s := newEvalSite(t)
	a := s.agent(t, s.token)
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
	s := newEvalSite(t)
	a, heard := hearing(t, &sdk.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(s.token)}, DisableStandaloneSSE: true})
	_, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")})
	params := &sdk.CallToolParams{Name: "get_job_status", Arguments: object{"job_id": made["id"]}}
	params.SetProgressToken("p")
	ended := make(chan string, 1)
	go func() {
		result, err := a.CallTool(a.Context(), params)
		ended <- fmt.Sprint(jsonText(result), err)
	}()
	select {
	case <-heard: // the call is under way
	case answer := <-ended:
		t.Fatalf("the answer came before the end: %s", answer)
	}
	if answer, refused := s.agent(t, s.token).call("get_job_status", object{"job_id": made["id"], "wait": 0}); answer["ended"] != false {
		t.Errorf("an answer at once: %v %s", answer, refused)
	}
	s.finish(work.Evaluation{ID: made["id"].(string)})
	if answer := <-ended; !strings.Contains(answer, `"ended":true`) {
		t.Error(answer)
	}
}
