package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"warpboard/clients/go"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// mcpCall returns a JSON-RPC message that calls an MCP tool.
func mcpCall(id int, tool string, arguments webtest.Object) webtest.Object {
	return webtest.Object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": webtest.Object{"name": tool, "arguments": arguments}}
}

// postMCP returns an HTTP request with an MCP message, as a client would send it.
func postMCP(s *webtest.Site, token, body string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		s.Cfg.Settings.Addr, token, len(body), body)
}

func TestABatchOfCallsIsRefused(t *testing.T) {
	s := webtest.NewEvalSite(t)
	batch := make([]webtest.Object, 20_000)
	for i := range batch {
		batch[i] = mcpCall(i, "wait_submission", webtest.Object{"id": 1})
	}
	text, err := json.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{string(text), " \r\n\t" + string(text), "[]", "["} {
		_, resp := from(s.Site, t, "127.0.0.1", postMCP(s.Site, s.Token, body))
		var answer struct{ Error struct{ Code int } }
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusBadRequest || answer.Error.Code != -32600 {
			t.Errorf("%.20q: %s %+v %v", body, resp.Status, answer, err)
		}
	}
}

// waiting sends a request that waits for an unfinished run, for a visitor behind a proxy. It returns nil once the
// request waits, or the response if the site answers at once.
func waiting(s *webtest.Scene, t *testing.T, visitor, header string) *http.Response {
	t.Helper()
	before := s.Shared().Limiter.InUse(site.WaitingResource, site.VisitorResource(site.WaitingResource))
	conn := dial(s.Site, t, "127.0.0.1")
	fmt.Fprintf(conn, "GET /api/v1/submissions/%d?wait=25 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\n%s\r\n", s.Queued.SubmissionID, visitor, header)
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			answered <- resp
		}
	}()
	var resp *http.Response
	tier.Until(t, "it waits or is answered", func() bool {
		select {
		case resp = <-answered:
			return true
		default:
			return s.Shared().Limiter.InUse(site.WaitingResource, site.VisitorResource(site.WaitingResource)) > before
		}
	})
	return resp
}

// TestAWaitWithoutAPlaceIsAnsweredAtOnce checks that a request with ?wait= gets the current state at once if too many
// wait already: requests of the same visitor, or of all visitors.
func TestAWaitWithoutAPlaceIsAnsweredAtOnce(t *testing.T) {
	s := webtest.NewScene(t, func(c *web.Config) { c.Limits = site.Limits{Requests: 32, RequestsEach: 8} })
	for i := range 3 { // more than half of the permits
		if resp := waiting(s, t, fmt.Sprintf("203.0.113.%d", i/2), ""); resp != nil {
			t.Fatalf("the wait %d: %s", i, resp.Status)
		}
	}
	for _, visitor := range []string{"203.0.113.0", "203.0.113.9"} {
		_, resp := from(s.Site, t, "127.0.0.1", fmt.Sprintf("GET /api/v1/submissions/%d?wait=25 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\n\r\n", s.Queued.SubmissionID, visitor))
		var answer client.Submission
		err := json.NewDecoder(resp.Body).Decode(&answer)
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Retry-After") == "" || answer.ID != s.Queued.SubmissionID || answer.Ended {
			t.Errorf("one wait more of %s: %s %+v %v, want the state and a time to ask again", visitor, resp.Status, answer, err)
		}
		if _, resp := from(s.Site, t, "127.0.0.1", "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+visitor+"\r\n\r\n"); resp.StatusCode != 200 {
			t.Errorf("a request of %s that does not wait: %s", visitor, resp.Status)
		}
	}
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.Ada.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	if resp := waiting(s, t, "203.0.113.9", "Authorization: Bearer "+secret+"\r\n"); resp != nil {
		t.Errorf("someone with an account, who waits while strangers do: %s", resp.Status)
	}
}

// TestWaitsTakeNoPlaceOfAPage checks that pages load while as many requests with ?wait= are open as the limit of other
// requests allows.
func TestWaitsTakeNoPlaceOfAPage(t *testing.T) {
	s := webtest.NewScene(t, func(c *web.Config) {
		c.Limits = site.Limits{Requests: 8, RequestsEach: 8, SlowRequests: 16, SlowRequestsEach: 16}
	})
	for i := range 8 {
		if resp := waiting(s, t, fmt.Sprint("203.0.113.", i), ""); resp != nil {
			t.Fatalf("the wait %d: %s", i, resp.Status)
		}
	}
	for _, path := range []string{"/", "/healthz"} {
		if _, resp := from(s.Site, t, "127.0.0.1", "GET "+path+" HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestFewRequestsThatAskToWaitWorkAtOnce checks that only a few requests with ?wait= run at the same time, so that
// thousands of them do not slow down the database for pages.
func TestFewRequestsThatAskToWaitWorkAtOnce(t *testing.T) {
	const asked = 64
	var working atomic.Int64
	let := make(chan struct{})
	app := fiber.New()
	app.Get("/", webtest.Start(t).Shared().LimitWorkOfWaitRequests, func(c *fiber.Ctx) error {
		working.Add(1)
		<-let
		return nil
	})
	var all errgroup.Group
	for _, path := range slices.Concat(slices.Repeat([]string{"/?wait=1"}, asked), []string{"/", "/"}) {
		all.Go(func() error {
			_, err := app.Test(httptest.NewRequest(http.MethodGet, path, nil), -1)
			return err
		})
	}
	turns := int64(runtime.GOMAXPROCS(0) + 2)
	tier.Until(t, "those work that have a turn, and those that do not ask to wait", func() bool { return working.Load() == turns })
	for range asked { // each request that ends lets another one start
		if let <- struct{}{}; working.Load() > turns+1 {
			t.Fatalf("%d work at once", working.Load())
		}
		working.Add(-1)
	}
	close(let)
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLongPollsLeavePlacesForEvaluations checks that requests with ?wait= cannot take all permits. POST /evaluate also
// needs one, and cannot be answered before the evaluation ends.
func TestLongPollsLeavePlacesForEvaluations(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) {
		c.Limits, c.EvalLimits.MaxDeviceWait = site.Limits{Requests: 32, RequestsEach: 16}, time.Second
	})
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x"), "shared": true})
	for i := range 4 {
		waits := modelstest.Person(t, s.Cfg.Store, fmt.Sprint("waits ", i), accounts.RoleUser)
		token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), waits.ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			io.WriteString(dial(s.Site, t, "127.0.0.1"), fmt.Sprintf("GET /api/v1/evaluations/%s?wait=50 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", made["id"], token))
		}
	}
	tier.Until(t, "those that have a place wait", func() bool {
		return s.Shared().Limiter.InUse(site.WaitingResource,
			site.VisitorResource(site.WaitingResource)) == 3
	})
	if resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")}); answer["error"] != "No GPU available within 1 seconds" {
		t.Errorf("an evaluation while others wait: %s %v", resp.Status, answer)
	}
}

func TestHalfSentBodiesLeavePlacesForOthers(t *testing.T) {
	s := webtest.Start(t, noProxies, func(c *web.Config) { c.Limits = site.Limits{Requests: 32, RequestsEach: 8} })
	const half = "POST /auth/developer HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\nx"
	for i := range 4 {
		io.WriteString(dial(s, t, fmt.Sprintf("127.0.0.%d", 2+i/2)), half)
	}
	tier.Until(t, "all are being read, and are slow", func() bool {
		return s.Shared().Limiter.InUse(site.UploadsResource,
			site.VisitorResource(site.UploadsResource)) == 4
	})
	for address, want := range map[string]int{"127.0.0.2": http.StatusTooManyRequests, "127.0.0.9": http.StatusServiceUnavailable} {
		if _, resp := from(s, t, address, half); resp.StatusCode != want {
			t.Errorf("one body more of %s: %s, want %d", address, resp.Status, want)
		}
		whole := strings.Replace(half, "60000", "1", 1)
		// 403: the body was read, and contains no CSRF token
		if _, resp := from(s, t, address, whole); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a body of %s that is quick: %s", address, resp.Status)
		}
	}
}

func TestRequestsInsideAnMCPCallCountAgainstLimits(t *testing.T) {
	s := webtest.NewEvalSite(t, noProxies, func(c *web.Config) { c.Limits = site.Limits{RequestsEach: 1} })
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")})
	text, err := json.Marshal(mcpCall(1, "get_job_status", webtest.Object{"job_id": made["id"], "wait": 40}))
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(s.Site, t, "127.0.0.2")
	io.WriteString(conn, postMCP(s.Site, s.Token, string(text)))
	tier.Until(t, "the call and what it asks are under way", func() bool {
		return s.Shared().Limiter.InUse(site.RequestsResource) == 1 &&
			s.Shared().Limiter.InUse(site.WaitRequestsResource) == 1
	})
	if _, resp := from(s.Site, t, "127.0.0.2", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("another request: %s", resp.Status)
	}
	conn.Close()
	tier.Until(t, "what no one waits for ends", func() bool {
		return s.Shared().Limiter.InUse(site.RequestsResource) == 0 &&
			s.Shared().Limiter.InUse(site.WaitRequestsResource) == 0
	})
}

func TestAnIPv6CustomerCountsForAllOfTheirNetworks(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.Limits = site.Limits{StreamsEach: 1} })
	watch := func(visitor string) int {
		_, resp := from(s, t, "127.0.0.1", "GET /devices/events HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+visitor+"\r\n\r\n")
		return resp.StatusCode
	}
	var got []string
	for _, visitor := range []string{
		// four addresses of one /56 network
		"2001:db8:0:0::1", "2001:db8:0:0::2", "2001:db8:0:1::1", "2001:db8:0:ff::1",
		"2001:db8:0:100::1", "2001:db8:0:200::1", "2001:db8:0:300::1", // three more of the same /48 network
		"2001:db8:1::1"} {
		got = append(got, fmt.Sprint(watch(visitor)))
	}
	if want := "200 429 200 429 200 200 429 200"; strings.Join(got, " ") != want {
		t.Errorf("the answers are %s, want %s", strings.Join(got, " "), want)
	}
}
