package webtest

import (
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bearer adds a token to every request.
type Bearer string

// RoundTrip adds the token.
func (b Bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Agent is a client of the site's MCP server, made with the MCP SDK.
type Agent struct {
	*testing.T
	*sdk.ClientSession
}

// Connect starts an MCP session over a transport.
func Connect(t *testing.T, transport sdk.Transport) Agent {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return Agent{t, session}
}

// Agent returns an MCP client over HTTP, with or without a token.
func (s *EvalSite) Agent(t *testing.T, token string) Agent {
	t.Helper()
	return Connect(t, &sdk.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: Bearer(token)}, DisableStandaloneSSE: true})
}

// Call calls a tool and returns its structured answer, or the text of its error.
func (a Agent) Call(tool string, arguments Object) (answer Object, refused string) {
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
