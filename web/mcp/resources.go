package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// scheme begins the addresses of resources.
const scheme = "warpboard://"

// addReading offers tasks and boards as resources, and the way to the top of a board as a prompt.
func (t tools) addReading(server *sdk.Server) {
	for uri, about := range map[string]string{
		scheme + "tasks/{task}":           "A task: description, cases, limits, templates.",
		scheme + "boards/{task}/{device}": "The board of a task on a device.",
	} {
		server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: uri, Name: strings.TrimPrefix(uri, scheme), Description: about, MIMEType: "application/json"}, t.read)
	}
	server.AddPrompt(&sdk.Prompt{Name: "climb", Title: "Climb a board", Description: "Bring a kernel for a task to the top of its board.",
		Arguments: []*sdk.PromptArgument{{Name: "task", Description: "slug of the task", Required: true}}}, climb)
}

// read answers with a resource as the API has it.
func (t tools) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	var answer any
	var err error
	switch parts := strings.Split(strings.TrimPrefix(r.Params.URI, scheme), "/"); {
	case len(parts) == 2 && parts[0] == "tasks":
		answer, err = t.site.Task(ctx, parts[1])
	case len(parts) == 3 && parts[0] == "boards":
		answer, err = t.site.Board(ctx, parts[1], parts[2], 1)
	default:
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, err
}

func climb(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	_, loop, _ := strings.Cut(Skill(), "# Work on a Warpboard")
	text := "Bring a kernel for the task " + r.Params.Arguments["task"] + " to the top of its board.\n" + loop
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
}
