package evalapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"warpboard/web"
	"warpboard/web/webtest"
)

func TestCancelledEvaluationsDoNotFillTheDisk(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxBytesPerHour = 2 << 20 })
	code := webtest.TorchModel("return x")
	code["source_code"] = code["source_code"].(string) + "\n#" + strings.Repeat("x", 600<<10)
	var last string
	for i := range 4 {
		resp, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": code})
		if i == 3 {
			wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if resp.StatusCode != http.StatusTooManyRequests || err != nil || wait < 3000 ||
				!strings.Contains(fmt.Sprint(made["detail"]), "2 MiB") {
				t.Errorf("the fourth: %s %v %v, try again after %q", resp.Status, made, err,
					resp.Header.Get("Retry-After"))
			}
			break
		}
		last = made["id"].(string)
		s.Ask("POST", "/api/v1/evaluations/"+last+"/cancel", webtest.Object{})
	}
	if _, answer := s.Ask("GET", "/api/v1/evaluations/"+last, nil); answer["state"] != "cancelled" ||
		len(fmt.Sprint(answer["request"])) > 10 {
		t.Errorf("the API keeps a request of %d characters, state %v", len(fmt.Sprint(answer["request"])),
			answer["state"])
	}
	b := s.Plain(&s.User)
	webtest.WantText(t, b.Page("/evaluations/"+last, http.StatusOK), "main", "Cancelled evaluations keep no request.")
	webtest.WantText(t, b.Page("/playground?from="+last, http.StatusNotFound), "main", "is not kept")
}
