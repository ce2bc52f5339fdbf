package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/web"
	"warpboard/web/webtest"
)

func TestAgentsNeedATokenUnlessTheAPIIsOpen(t *testing.T) {
	closed := webtest.NewEvalSite(t)
	transport := &sdk.StreamableClientTransport{Endpoint: closed.URL + "/mcp", DisableStandaloneSSE: true}
	if _, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		nil); err == nil {
		t.Error("an agent without a token was let in")
	}
	open := webtest.NewEvalSite(t, func(c *web.Config) { c.TokenlessEvaluators = "loopback" }).Agent(t, "")
	if _, refused := open.Call("get_server_stats", webtest.Object{}); refused != "" {
		t.Errorf("get_server_stats: %s", refused)
	}
	if _, refused := open.Call("validate_kernel",
		webtest.Object{"kernel_source": "x", "kernel_type": "triton"}); !strings.Contains(refused, "io_contract") {
		t.Errorf("an open evaluation: %q", refused)
	}
	if _, refused := open.Call("submit",
		webtest.Object{"task": "t", "source": "x", "file_name": "a.cpp"}); !strings.Contains(refused, "Sign in") {
		t.Errorf("a submission of no one: %q", refused)
	}
}
