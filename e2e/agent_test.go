package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asBearer adds a person's token to every request.
type asBearer string

func (b asBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// climb runs an agent's session over MCP, from the list of tasks to rank 1 with the kernel source. All other data comes
// from the tools: for example, get_task describes the task.
func (p person) climb(t *testing.T, site, source string) {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{
			Endpoint: site + "/mcp", HTTPClient: &http.Client{Transport: asBearer(p.token)},
			DisableStandaloneSSE: true},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(tool string, in map[string]any, out any) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		text, err := json.Marshal(result.StructuredContent)
		if err == nil && !result.IsError {
			err = json.Unmarshal(text, out)
		}
		if err != nil || result.IsError {
			t.Fatalf("%s: %v %v", tool, err, result.Content[0])
		}
	}
	var tasks struct {
		Tasks []struct {
			Slug    string
			Devices []string
		}
	}
	call("list_tasks", nil, &tasks)
	slug, device := tasks.Tasks[0].Slug, tasks.Tasks[0].Devices[0]
	var task struct {
		Templates map[string]struct{ Name string }
	}
	call("get_task", map[string]any{"task": slug}, &task)
	name := ""
	for _, template := range task.Templates {
		name = template.Name
	}
	type submission struct {
		ID    int64
		Ended bool
		Runs  []struct {
			State   string
			Failure string
			Output  string
			ScoreNS *float64 `json:"score_ns"`
		}
	}
	judged := func(tool, source string) (s submission) {
		t.Helper()
		call(tool, map[string]any{"task": slug, "source": source, "file_name": name, "devices": []string{device}}, &s)
		for !s.Ended {
			call("wait_submission", map[string]any{"id": s.ID}, &s)
		}
		return s
	}
	if s := judged("test_kernel", "#error not yet"); s.Runs[0].State != "failed" ||
		!strings.Contains(s.Runs[0].Output+s.Runs[0].Failure, "not yet") {
		t.Errorf("a kernel that does not compile: %+v", s)
	}
	if s := judged("test_kernel", source); s.Runs[0].State != "done" {
		t.Fatalf("%+v", s)
	}
	ranked := judged("rank_kernel", source)
	if ranked.Runs[0].ScoreNS == nil {
		t.Fatalf("%+v", ranked)
	}
	var board struct {
		Entries []struct {
			Rank       int
			Submission int64 `json:"submission_id"`
		}
	}
	call("get_board", map[string]any{"task": slug, "device": device}, &board)
	if board.Entries[0].Rank != 1 || board.Entries[0].Submission != ranked.ID {
		t.Errorf("the board is %+v, and submission %d is not its first", board, ranked.ID)
	}
	var record struct {
		Record int64
		Diff   string
	}
	if call("compare_with_record", map[string]any{"id": ranked.ID}, &record); record.Record != ranked.ID ||
		record.Diff != "" {
		t.Errorf("the record beside itself: %+v", record)
	}
	var mine struct{ Submissions []submission }
	if call("my_submissions", map[string]any{"task": slug}, &mine); len(mine.Submissions) < 3 {
		t.Errorf("my_submissions: %+v", mine)
	}
	p.readsResources(t, session, slug)
}

// readsResources reads the task as an MCP resource, and an MCP prompt.
func (p person) readsResources(t *testing.T, session *sdk.ClientSession, slug string) {
	t.Helper()
	resource, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "warpboard://tasks/" + slug})
	if err != nil || !strings.Contains(resource.Contents[0].Text, `"benchmarks"`) {
		t.Errorf("the task as a resource: %v", err)
	}
	files, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "warpboard://reference/" + slug})
	if err != nil || !slices.ContainsFunc(files.Contents,
		func(f *sdk.ResourceContents) bool { return strings.HasSuffix(f.URI, "#"+slug+"/reference.h") }) {
		t.Errorf("the task's files as a resource: %v %v", files, err)
	}
	prompt, err := session.GetPrompt(t.Context(),
		&sdk.GetPromptParams{Name: "climb", Arguments: map[string]string{"task": slug}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*sdk.TextContent).Text, "rank_kernel") {
		t.Errorf("the prompt: %v", err)
	}
}
