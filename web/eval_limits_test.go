package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestCancelledEvaluationsDoNotFillTheDisk(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.EvalLimits.HourBytes = 2 << 20 })
	code := torchModel("return x")
	code["source_code"] = code["source_code"].(string) + "\n#" + strings.Repeat("x", 600<<10)
	var last string
	for i := range 4 {
		resp, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": code})
		if i == 3 {
			wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if resp.StatusCode != http.StatusTooManyRequests || err != nil || wait < 3000 || !strings.Contains(fmt.Sprint(made["detail"]), "2 MiB") {
				t.Errorf("the fourth: %s %v %v, try again after %q", resp.Status, made, err, resp.Header.Get("Retry-After"))
			}
			break
		}
		last = made["id"].(string)
		s.ask("POST", "/api/v1/evaluations/"+last+"/cancel", object{})
	}
	if _, answer := s.ask("GET", "/api/v1/evaluations/"+last, nil); answer["state"] != "cancelled" || len(fmt.Sprint(answer["request"])) > 10 {
		t.Errorf("the API keeps a request of %d characters, state %v", len(fmt.Sprint(answer["request"])), answer["state"])
	}
	b := s.plain(&s.user)
	wantText(t, b.page("/evaluations/"+last, http.StatusOK), "main", "The request is not kept, because the evaluation was cancelled.")
	wantText(t, b.page("/playground?from="+last, http.StatusNotFound), "main", "is not kept")
}
