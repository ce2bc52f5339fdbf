package boards_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestNoNumberInAnAddressIsTooLarge requests page numbers and offsets far beyond the last page, up to overflow.
func TestNoNumberInAnAddressIsTooLarge(t *testing.T) {
	s := webtest.NewScene(t)
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	paths := append(s.All(), board+"/dataset.jsonl", board+"/dataset.parquet", board+"/entries.csv", board+"/badge.svg",
		board+"/records.atom", "/tags/none",
		"/api/v1"+board, "/api/v1/evaluations", "/api/v1/submissions",
		fmt.Sprintf("/submissions/%d/runs/%d/profile", s.Done.SubmissionID, s.Done.ID),
		fmt.Sprintf("/submissions/%d/runs/%d/profile.ptx", s.Done.SubmissionID, s.Done.ID),
		fmt.Sprintf("/compare?a=%d&b=%d", s.Done.ID, s.Done.ID))
	b := s.BrowserOf(s.Admin)
	for _, path := range paths {
		for _, number := range []string{"9223372036854775807", "-9223372036854775808"} {
			for _, query := range []string{"page=%[1]s", "at=2999-01-01&page=%[1]s",
				"places=%[1]s&before=%[1]s&after=%[1]s&code=%[1]s&kernel=%[1]s&limit=%[1]s", "case=%[1]s", "from=%[1]s",
				"version=%[1]s", "pin=%[1]s", "as=%[1]s&bs=%[1]s", "user=%[1]s"} {
				mark := "?"
				if strings.Contains(path, "?") {
					mark = "&"
				}
				resp := b.Get(path + mark + fmt.Sprintf(query, number))
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode >= 500 {
					t.Errorf("%s: %s", resp.Request.URL, resp.Status)
				}
			}
		}
	}
}
