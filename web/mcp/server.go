package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
)

// defaultMaxWait limits how long a call waits. Common clients and proxies abandon a call after a minute.
const defaultMaxWait = 40 * time.Second

// Options describes the client that a server is made for.
type Options struct {
	ClientGone context.Context // ends when the client disconnects; nil if the SDK cancels the client's calls itself
	MaxWait    time.Duration   // limit for a call without progress messages; 0: defaultMaxWait
	Schemas    *Schemas        // cache shared with other servers; nil: a new one
}

// Schemas caches the schemas of tools for all servers: each HTTP request has its own server, and making all schemas
// takes longer than most calls. It is safe for concurrent use.
type Schemas struct {
	typeCache                      *sdk.SchemaCache // the SDK's cache, whose keys are pointers to the schemas below
	argumentSchemas, answerSchemas sync.Map         // tool name → *jsonschema.Schema
}

// NewSchemas returns an empty cache.
func NewSchemas() *Schemas { return &Schemas{typeCache: sdk.NewSchemaCache()} }

// toolServer is an MCP server to which the functions of this package add tools.
type toolServer struct {
	*sdk.Server
	schemas *Schemas
}

// New returns a server whose tools call the site's API, with the rights of the client's token.
func New(site *client.Client, version string, o Options) *sdk.Server {
	schemas := cmp.Or(o.Schemas, NewSchemas())
	server := sdk.NewServer(&sdk.Implementation{Name: "warpboard", Title: "Warpboard", Version: version}, &sdk.ServerOptions{
		SchemaCache:  schemas.typeCache,
		Instructions: "Compile, check, and time kernels, alone or against a reference, and bring them to the top of boards: call list_tasks, get_task, test_kernel until it passes, rank_kernel, get_board, and read_profile, then repeat. Evaluations have times in milliseconds, boards in nanoseconds.",
	})
	t := toolHandlers{site: site, clientGone: o.ClientGone, maxWait: cmp.Or(o.MaxWait, defaultMaxWait)}
	if t.clientGone == nil {
		t.clientGone = context.Background()
	}
	server.AddReceivingMiddleware(schemas.explainArgumentErrors)
	offered := toolServer{server, schemas}
	t.addEvaluationTools(offered)
	t.addBoardTools(offered)
	t.addSubmissionTools(offered)
	t.addResources(offered)
	return server
}

// ServeStdio serves the tools to one client over in and out until ctx ends or in is closed.
func ServeStdio(ctx context.Context, site *client.Client, version string, in io.ReadCloser, out io.WriteCloser) error {
	if err := New(site, version, Options{}).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve MCP on stdin and stdout: %w", err)
	}
	return nil
}

// toolHandlers has the handlers of the tools, and the API client that they use.
type toolHandlers struct {
	site       *client.Client
	clientGone context.Context
	maxWait    time.Duration
}

// jsonObject is a JSON object whose keys the site defines.
type jsonObject = map[string]any

// readingAnnotations, createAnnotations, and endingAnnotations tell clients the effects of tools. Tools that read
// change nothing, tools that create queue work, and tools that end cancel running work. All act on this site only.
func readingAnnotations() *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
}

func createAnnotations() *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
}

func endingAnnotations() *sdk.ToolAnnotations {
	no, yes := false, true
	return &sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}
}

// addTypedTool adds a tool with a result of type Out, whose short schema clients receive. An error of call becomes an
// error result.
func addTypedTool[In, Out any](
	server toolServer, name, about string, notes *sdk.ToolAnnotations,
	call func(context.Context, *progressReporter, In) (Out, error),
) {
	answer := cachedSchema(&server.schemas.answerSchemas, name, shortSchema[Out])
	sdk.AddTool(server.Server, newTool[In](server, name, about, notes, answer), func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		out, err := call(ctx, newProgress(r), in)
		return nil, out, err
	})
}

// addUntypedTool adds a tool whose result is a response of the evaluation API: known keys have fixed types, and the
// site may add keys.
func addUntypedTool[In any](
	server toolServer, name, about string, notes *sdk.ToolAnnotations, keys map[string]string,
	call func(context.Context, *progressReporter, In) (any, error),
) {
	answer := cachedSchema(&server.schemas.answerSchemas, name, func() (*jsonschema.Schema, error) { return untypedSchema(keys), nil })
	sdk.AddTool(server.Server, newTool[In](server, name, about, notes, answer), func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, jsonObject, error) {
		answer, err := call(ctx, newProgress(r), in)
		if err != nil {
			return nil, nil, err
		}
		out, err := toJSONObject(answer)
		return nil, out, err
	})
}

func newTool[In any](
	server toolServer, name, about string, notes *sdk.ToolAnnotations, answer *jsonschema.Schema,
) *sdk.Tool {
	arguments := cachedSchema(&server.schemas.argumentSchemas, name, func() (*jsonschema.Schema, error) { return jsonschema.For[In](nil) })
	return &sdk.Tool{Name: name, Description: about, Annotations: notes, InputSchema: arguments, OutputSchema: answer}
}

// toJSONObject converts a value to a JSON object.
func toJSONObject(value any) (out jsonObject, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return out, nil
}
