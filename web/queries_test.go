package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// statedQueries is the document with the limit of database queries for each page.
const statedQueries = "../docs/queries.md"

// notPages matches GET paths that do not respond with a page: files, streams, data, and redirects.
var notPages = regexp.MustCompile(
	`^/(clients|popcorn|api/v1|api/\+|auth|find|static|job|health|healthz|readyz|metrics|stats|evaluate|mcp|admin)(/|$)|./(events|file|template|source)$|\.(json|jsonl|parquet|csv|txt|zip|ncu-rep|ptx|svg|png|jpg|atom|xml|ico|md)$|:starter$`)

// TestNoPageAsksMoreQueriesThanItStates loads every page of a site with many waiting runs and much stored data. A page
// that sends one query per row exceeds its documented limit.
func TestNoPageAsksMoreQueriesThanItStates(t *testing.T) {
	s := newCrowdedScene(t)
	stated, asked := readStatedQueries(t), s.pageQueries(s.addresses())
	for page, n := range asked {
		if stated[page] == 0 {
			t.Errorf("%s does not state the page %s, which asks %d queries", statedQueries, page, n)
		}
	}
	for page, most := range stated {
		if asked[page] > most || asked[page] == 0 {
			t.Errorf("%s asks %d queries and states %d", page, asked[page], most)
		}
	}
}

// BenchmarkPageQueries reports the number of database queries, the compressed size, and the response time of each page
// in a crowdedScene.
func BenchmarkPageQueries(b *testing.B) {
	s := newCrowdedScene(b)
	addresses, reader := s.addresses(), s.BrowserOf(s.Admin)
	asked := s.pageQueries(addresses)
	for page, most := range readStatedQueries(b) {
		b.Run(page, func(b *testing.B) {
			took, size := timesOf(reader, b, addresses[page])
			b.ReportMetric(float64(asked[page]), "queries/page")
			b.ReportMetric(float64(most), "stated/page")
			b.ReportMetric(float64(took.Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(size)/1000, "kB")
		})
	}
}

// timesOf loads a page a hundred times, compressed. It returns the 99th percentile of the response times, and the size.
func timesOf(b *webtest.Browser, t testing.TB, path string) (p99 time.Duration, size int) {
	t.Helper()
	took := make([]time.Duration, 100)
	for i := range took {
		began := time.Now()
		resp := b.Get(path, "Accept-Encoding", "gzip")
		sent, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %s, %v", path, resp.Status, err)
		}
		took[i], size = time.Since(began), len(sent)
	}
	slices.Sort(took)
	return took[98], size
}

// readStatedQueries reads the table rows "| `page` | queries |" of the document.
func readStatedQueries(t testing.TB) map[string]int {
	t.Helper()
	text, err := os.ReadFile(statedQueries)
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)`.*\\| (\\d+) \\|$").FindAllStringSubmatch(string(text),
		-1) {
		if stated[row[1]], err = strconv.Atoi(row[2]); err != nil {
			t.Fatal(err)
		}
	}
	return stated
}

// crowdedScene is a scene with profiles and evaluations, and dozens of waiting runs.
type crowdedScene struct {
	*webtest.ProfiledScene
	evaluation string
}

func newCrowdedScene(t testing.TB) *crowdedScene {
	t.Helper()
	s := &crowdedScene{ProfiledScene: webtest.NewProfiledScene(t)}
	for i := range 20 {
		user := modelstest.Person(t, s.Cfg.Store, fmt.Sprintf("waiting-%02d", i), accounts.RoleUser)
		s.Submit(user, []string{"H200", "CPU"}[i%2], webtest.GoodKernel)
		s.Submit(s.Ada, "CPU", webtest.GoodKernel)
		e, err := s.Cfg.Store.Work.SubmitEvaluation(t.Context(),
			work.NewEvaluation{User: s.Ada, Owner: fmt.Sprintf("user:%d", s.Ada.ID), Caller: "token:1",
				Kind: "evaluate", Device: "H200", Request: json.RawMessage(`{}`), Sources: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		s.evaluation = e.ID
	}
	return s
}

// addresses returns an example path for every page. It creates the data that some of the pages show, so call it only
// once.
func (s *crowdedScene) addresses() map[string]string {
	submission := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	run := fmt.Sprintf("%s/runs/%d", submission(s.First), s.First.ID)
	parameters := strings.NewReplacer("/tasks/:slug", "/tasks/"+s.Task.Slug, ":device", "H200", "/users/:id",
		fmt.Sprintf("/users/%d", s.Ada.ID),
		"/evaluations/:id", "/evaluations/"+s.evaluation, "/submissions/:id/runs/:run", run, "/submissions/:id",
		submission(s.First),
		"/webhooks/:id", s.Webhook(), "/comments/:id", s.Comment(), "/events/:slug",
		"/events/"+s.Event(time.Minute).Slug, "/docs/:page", "/docs/measuring", ":tag", "beginner", ":form/:lang",
		"eval/cu", ":kind", "vectoradd_cpp", ":code", s.Invite(s.Task), "/runs/:id",
		fmt.Sprintf("/runs/%d", s.First.ID))
	pages := map[string]string{}
	for _, r := range s.App().GetRoutes(true) {
		if r.Method == http.MethodGet && !notPages.MatchString(r.Path) {
			pages[r.Path] = parameters.Replace(r.Path)
		}
	}
	pages["/submissions/:id/comments"] = commented(s.ProfiledScene.Scene)
	pages["/compare"] += fmt.Sprintf("?a=%d&b=%d", s.First.ID, s.Second.ID)
	return pages
}

// pageQueries loads every page as an admin, who sees the most, and returns the number of database queries by page. It
// omits pages that only redirect.
func (s *crowdedScene) pageQueries(addresses map[string]string) map[string]int {
	s.T.Helper()
	asked, b := map[string]int{}, s.BrowserOf(s.Admin)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for page, address := range addresses {
		before := s.Cfg.Store.QueryCount()
		resp := b.Get(address)
		webtest.Body(s.T, resp)
		switch {
		case resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusFound:
		case resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
			s.T.Errorf("%s answers %s at %s, which is no page", page, resp.Status, address)
		default:
			asked[page] = int(s.Cfg.Store.QueryCount() - before)
		}
	}
	return asked
}
