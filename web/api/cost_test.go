package api_test

import (
	"io"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/web/webtest"
)

func TestNoBodyOfTheAPICostsMoreThanARequestMay(t *testing.T) {
	const size = 4_000_000
	values := func(one string) string { return "[" + strings.Repeat(one+",", size/(len(one)+1)) + one + "]" }
	submission := func(key, value string) string {
		return `{"task":"matmul","source":"x","file_name":"a.cu","` + key + `":` + value + "}"
	}
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
			arguments + "}}"
	}
	distinct := strings.NewReplacer("{", "[", ":1", "", "}",
		"]").Replace(strings.ReplaceAll(webtest.Keys(size), `"":1`, `""`))
	s := webtest.NewEvalSite(t)
	for name, test := range map[string]struct{ path, body string }{
		"keys of a submission":    {"/api/v1/submissions", webtest.Keys(size)},
		"a key of a submission":   {"/api/v1/submissions", `{"` + strings.Repeat("a", size) + `":1}`},
		"devices of a submission": {"/api/v1/submissions", submission("devices", values(`""`))},
		"names of devices":        {"/api/v1/submissions", submission("devices", distinct)},
		"fewer names of devices": {"/api/v1/submissions",
			submission("devices", `["a"`+strings.Repeat(`,"b"`, 4000)+"]")},
		"names of devices in a source": {"/api/v1/submissions", `{"task":"matmul","source":"//!POPCORN gpus ` +
			webtest.DeviceNames(150_000) + `","file_name":"a.cu"}`},
		"files of a submission": {"/api/v1/submissions", submission("files", webtest.Keys(size))},
		"keys of a request to evaluate": {"/evaluate",
			`{"kernel":{"source_code":"","kernel_type":"torch","metadata":` + webtest.Keys(size) + "}}"},
		"values of a request to evaluate": {"/api/v1/evaluations",
			`{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":` + values("{}") + "}}}"},
		"digits of a number": {"/api/v1/evaluations",
			`{"kernel":{"source_code":"","kernel_type":"torch"},"num_trials":` + strings.Repeat("1", size) + "}"},
		"keys of a call":   {"/mcp", call("test_kernel", webtest.Keys(size))},
		"values of a call": {"/mcp", call("evaluate_kernel", `{"request":`+values("{}")+"}")},
		"names of devices of a call": {"/mcp",
			call("test_kernel", `{"task":"a","source":"x","file_name":"a.cu","devices":`+distinct+"}")},
		"keys of a message": {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":` +
			webtest.Keys(size) + "}}"},
	} {
		costtest.Check(t, name, func() {
			resp, _ := s.Send(t.Context(), "POST", test.path, test.body, "Accept",
				"application/json, text/event-stream")
			if n, _ := io.Copy(io.Discard, resp.Body); n == 0 || n > 1<<16 {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
			resp.Body.Close()
		})
	}
}
