package mcp_test

import (
	"io"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/web/mcp"
	"warpboard/web/webtest"
)

// TestNoMessageToAgentsCostsMoreThanARequestMay sends large messages in unusual places. The answers must be small: they
// must not repeat the input.
func TestNoMessageToAgentsCostsMoreThanARequestMay(t *testing.T) {
	s := webtest.NewEvalSite(t)
	long := `"` + strings.Repeat("a", 4_000_000) + `"`
	for name, body := range map[string]string{
		"id":                     `{"jsonrpc":"2.0","id":` + long + `,"method":"ping"}`,
		"id behind another":      `{"jsonrpc":"2.0","id":1,"method":"ping","id":` + long + `}`,
		"id of a method unknown": `{"jsonrpc":"2.0","id":` + long + `,"method":"a"}`,
		"number as an id":        `{"jsonrpc":"2.0","id":` + strings.Repeat("1", 4_000_000) + `,"method":"ping"}`,
		"method":                 `{"jsonrpc":"2.0","id":1,"method":` + long + `}`,
		"version":                `{"jsonrpc":` + long + `,"id":1,"method":"ping"}`,
		"tool": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + long +
			`,"arguments":{}}}`,
		"progress": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":{},"_meta":{"progressToken":` + long + `}}}`,
		"resource": `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":` + long + `}}`,
		"cursor":   `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":` + long + `}}`,
		"protocol": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":` + long +
			`,"capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
		"cancelled": `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + long +
			`}}`,
		"answer to nothing":   `{"jsonrpc":"2.0","id":` + long + `,"result":{}}`,
		"a task":              `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_task","arguments":{"task":` + long + `}}}`,
		"unknown argument":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_task","arguments":{` + long + `:1}}}`,
		"as much as is taken": `{"jsonrpc":"2.0","id":` + long[:mcp.MaxBytesOutsideSources-100] + `","method":"ping"}`,
		"no JSON":             long + long,
		"a source":            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_kernel","arguments":{"task":"a","file_name":"a.cu","source":` + long[:500_000] + `"}}}`,
	} {
		costtest.Check(t, name, func() {
			resp, err := s.Send(t.Context(), "POST", "/mcp", body, "Accept", "application/json, text/event-stream")
			if err != nil {
				t.Fatal(err)
			}
			n, _ := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if n > 2*mcp.MaxBytesOutsideSources {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
		})
	}
}
