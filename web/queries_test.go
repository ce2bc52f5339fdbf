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

// statedQueries is the document that lists the most queries that each page sends to the database.
const statedQueries = "../docs/queries.md"

// notPages are the GET addresses that answer something else: files, streams, data, redirects.
var notPages = regexp.MustCompile(
	`^/(clients|popcorn|api/v1|api/\+|auth|find|static|job|health|healthz|readyz|metrics|stats|evaluate|mcp|admin)(/|$)|./(events|file|template|source)$|\.(json|jsonl|parquet|csv|txt|zip|ncu-rep|ptx|svg|png|jpg|atom|xml|ico|md)$|:starter$`)

// TestNoPageAsksMoreQueriesThanItStates asks every page of the site while many people wait and much is stored: a page
// that asks once per row is found.
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

// BenchmarkPageQueries reports what each page asks, how large it is as sent, and how long it takes in a crowded scene.
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

// timesOf asks for a page a hundred times, compressed, and returns the 99th percentile of its times and its size.
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

// readStatedQueries reads the rows | `page` | queries | of the document.
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

// crowdedScene is a scene with profiles and evaluations, in which dozens of people wait.
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

// addresses has an example of every page. It makes what some of them show, and can do so once.
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

// pageQueries asks every page as an admin, who is shown the most, and returns how many queries each asked. What only
// leads on is no page.
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
