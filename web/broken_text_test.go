package web_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestATextThatIsNotUTF8IsRefusedAtItsPlace checks that the error names the field and line of the invalid text. The
// site must not replace the characters, because it must measure the source that was sent.
func TestATextThatIsNotUTF8IsRefusedAtItsPlace(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for _, broken := range []string{"\xff", `\ud800`} {
		source := `{"source_code":"import torch\ndef f(x):\n    return x # ` + broken + `","kernel_type":"torch"}`
		for _, test := range []struct {
			path, body string
			status     int
			says       []string
		}{
			{"/evaluate", `{"kernel":` + source + `}`, 400,
				[]string{`"kernel -\u003e source_code"`, "line 3 is not UTF-8"}},
			{"/compare", `{"custom_kernel":{"source_code":"","kernel_type":"torch"},"ref_kernel":` + source + `}`, 400,
				[]string{`"ref_kernel -\u003e source_code"`, "line 3"}},
			{"/api/v1/evaluations", `{"kernel":` + source + `}`, 422, []string{"source_code", "line 3"}},
			{"/api/v1/submissions", `{"task":"a","file_name":"a.cu","source":"` + broken + `"}`, 422,
				[]string{`\"source\"`, "line 1"}},
			{"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evaluate_kernel","arguments":{"request":{"kernel":` + source + `}}}}`,
				400, []string{"request.kernel.source_code", "line 3"}},
		} {
			// a request that is wrongly accepted would wait for a device
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			resp, err := s.Send(ctx, "POST", test.path, test.body, "Accept", "application/json, text/event-stream")
			if err != nil {
				t.Errorf("%s: %v", test.path, err)
				continue
			}
			text := webtest.Body(t, resp)
			resp.Body.Close()
			if resp.StatusCode != test.status || !strings.Contains(text, test.says[0]) ||
				!strings.Contains(text, test.says[1]) {
				t.Errorf("%s: %s %s", test.path, resp.Status, text)
			}
		}
	}
	resp := s.SignedIn("ada", accounts.RoleUser).Post("/playground",
		url.Values{"kernel": {"return x \xff"}, "kernel_type": {"torch"}}, "HX-Request", "true")
	if text := webtest.Body(t, resp); resp.StatusCode != 422 || !strings.Contains(text, "not UTF-8") {
		t.Errorf("the playground: %s %.300s", resp.Status, text)
	}
	if list, err := s.Cfg.Store.Work.Evaluations(t.Context(), work.Requester{User: s.User}, 0, 9); err != nil ||
		len(list) != 0 {
		t.Errorf("%d evaluations were made, %v", len(list), err)
	}
}
