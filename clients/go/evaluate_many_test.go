package client

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

func TestEvaluateManyTakesUpABrokenConnection(t *testing.T) {
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		switch len(asked) {
		case 1:
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, `{"id": "b1", "taken": 2, "entries": [{"id": "e0"}, {"id": "e1"}]}`)
		case 2:
			io.WriteString(w, "{\"number\": 1, \"index\": 1, \"evaluation\": {\"id\": \"e1\"}}\n\n{\"num")
		default:
			io.WriteString(w,
				"{\"number\": 2, \"index\": 0, \"evaluation\": {\"id\": \"e0\"}}\n{\"number\": 2, \"index\": 0, \"end\": true}\n")
		}
	})
	var ids []string
	batch, err := c.EvaluateMany(t.Context(), []any{1, 2}, func(r BatchResult) error {
		ids = append(ids, r.Evaluation.ID)
		return nil
	})
	const results = "GET /api/v1/evaluations/batch/b1/results?after="
	if err != nil || batch.AcceptedCount != 2 || !slices.Equal(ids, []string{"e1", "e0"}) ||
		!slices.Equal(asked, []string{"POST /api/v1/evaluations/batch", results + "0", results + "1"}) {
		t.Errorf("%+v, %v: results of %v, asked %v", batch, err, ids, asked)
	}
}
