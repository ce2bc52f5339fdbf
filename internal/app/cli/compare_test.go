package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
)

// TestAComparisonSaysOneThing checks that the printed verdict agrees with the ratio and the scores, and that a note
// explains a board's score from several runs.
func TestAComparisonSaysOneThing(t *testing.T) {
	answer := ""
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/compare.json" {
			rw.Write([]byte(answer))
			return
		}
		json.NewEncoder(rw).Encode(client.Submission{ID: 1, Runs: []client.Run{{ID: 5, Device: "CPU", State: "done"}}})
	})
	for _, c := range []struct{ a, b, ratio, want string }{
		{`"score_ns": 30e6, "board_score_ns": 25.63e6, "pooled_runs": 3`, `"score_ns": 9e6`,
			`{"value": 0.3, "low": 0.29, "high": 0.31, "apart": true}`,
			"A 30.00 ms, B 9.000 ms: B is faster: it takes 0.300 times as long (0.290 to 0.310 at 99 %)\nA here is submission 1 alone; its board shows 25.63 ms, from 3 runs of this source combined\n"},
		{`"score_ns": 9e6`, `"score_ns": 30e6`, `{"value": 3.333, "low": 3.2, "high": 3.5, "apart": true}`,
			"B is slower: it takes 3.333 times as long"},
		{`"score_ns": 9e6`, `"score_ns": 9e6`, `{"value": 1, "low": 0.99, "high": 1.01, "apart": false}`,
			"no clear difference"},
		{`"score_ns": 9e6`, `"score_ns": 9e6`, `{"value": 1}`, "a clear difference needs fresh processes"},
		{`"score_ns": null, "mode": "test"`, `"score_ns": null`, `null`, "submission 1 is a test and has no times"},
		{`"score_ns": null, "mode": "ranked"`, `"score_ns": null`, `null`,
			"submissions 1 and 2 have no timed case in common"},
	} {
		answer = fmt.Sprintf(`{"a": {"submission": 1, %s}, "b": {"submission": 2, %s}, "ratio": %s, "cases": []}`, c.a,
			c.b, c.ratio)
		if err := w.run(t, "compare", "1", "2", "--server", w.URL); err != nil ||
			!strings.Contains(w.out.String(), c.want) {
			t.Errorf("%v: want %q:\n%s", err, c.want, &w.out)
		}
	}
}
