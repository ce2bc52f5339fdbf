package web

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
)

// statedQueries is the document that says what each page asks the database, at most.
const statedQueries = "../docs/queries.md"

// notPages are the GET addresses that answer something else: files, streams, data, redirects.
var notPages = regexp.MustCompile(`^/(clients|popcorn|api/v1|api/\+|auth|find|static|job|health|healthz|readyz|metrics|stats|evaluate|mcp|admin)(/|$)|./(events|file|template|source)$|\.(json|jsonl|parquet|csv|txt|zip|ncu-rep|ptx|svg|png|jpg|atom|xml|ico|md)$|:starter$`)

// TestNoPageAsksMoreQueriesThanItStates asks every page of the site while many people wait and much is stored: a page
// that asks once per row is found.
func TestNoPageAsksMoreQueriesThanItStates(t *testing.T) {
	s := newCrowdedScene(t)
	stated, asked := readStatedQueries(t), s.pageQueries()
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
	asked, addresses, reader := s.pageQueries(), s.addresses(), s.browserOf(s.admin)
	for page, most := range readStatedQueries(b) {
		b.Run(page, func(b *testing.B) {
			took, size := reader.timesOf(b, addresses[page])
			b.ReportMetric(float64(asked[page]), "queries/page")
			b.ReportMetric(float64(most), "stated/page")
			b.ReportMetric(float64(took.Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(size)/1000, "kB")
		})
	}
}

// timesOf asks for a page a hundred times, compressed, and returns the 99th percentile of its times and its size.
func (b *browser) timesOf(t testing.TB, path string) (p99 time.Duration, size int) {
	t.Helper()
	took := make([]time.Duration, 100)
	for i := range took {
		began := time.Now()
		resp := b.get(path, "Accept-Encoding", "gzip")
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
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)`.*\\| (\\d+) \\|$").FindAllStringSubmatch(string(text), -1) {
		if stated[row[1]], err = strconv.Atoi(row[2]); err != nil {
			t.Fatal(err)
		}
	}
	return stated
}

// crowdedScene is a scene with profiles and evaluations, in which dozens of people wait.
type crowdedScene struct {
	*profiledScene
	evaluation string
}

func newCrowdedScene(t testing.TB) *crowdedScene {
	t.Helper()
	s := &crowdedScene{profiledScene: newProfiledScene(t)}
	for i := range 20 {
		user := modelstest.Person(t, s.site.Store, fmt.Sprintf("waiting-%02d", i), accounts.RoleUser)
		s.submit(user, []string{"H200", "CPU"}[i%2], goodKernel)
		s.submit(s.ada, "CPU", goodKernel)
		e, err := s.site.Store.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: s.ada, Owner: fmt.Sprintf("user:%d", s.ada.ID), Caller: "token:1",
			Kind: "evaluate", Device: "H200", Request: json.RawMessage(`{}`), Sources: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		s.evaluation = e.ID
	}
	return s
}

// addresses has an example of every page.
func (s *crowdedScene) addresses() map[string]string {
	submission := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	run := fmt.Sprintf("%s/runs/%d", submission(s.first), s.first.ID)
	parameters := strings.NewReplacer("/tasks/:slug", "/tasks/"+s.task.Slug, ":device", "H200", "/users/:id", fmt.Sprintf("/users/%d", s.ada.ID),
		"/evaluations/:id", "/evaluations/"+s.evaluation, "/submissions/:id/runs/:run", run, "/submissions/:id", submission(s.first),
		"/webhooks/:id", s.webhook(), "/comments/:id", s.comment(), "/events/:slug", "/events/"+s.event(time.Minute).Slug, "/docs/:page", "/docs/measuring", ":tag", "beginner", ":form/:lang", "eval/cu", ":kind", "vectoradd_cpp", ":code", s.invite(s.task), "/runs/:id", fmt.Sprintf("/runs/%d", s.first.ID))
	pages := map[string]string{}
	for _, r := range s.app.GetRoutes(true) {
		if r.Method == http.MethodGet && !notPages.MatchString(r.Path) {
			pages[r.Path] = parameters.Replace(r.Path)
		}
	}
	pages["/submissions/:id/comments"] = s.commented()
	pages["/compare"] += fmt.Sprintf("?a=%d&b=%d", s.first.ID, s.second.ID)
	return pages
}

// pageQueries asks every page as an admin, who is shown the most, and returns how many queries each asked. What only
// leads on is no page.
func (s *crowdedScene) pageQueries() map[string]int {
	s.t.Helper()
	asked, b := map[string]int{}, s.browserOf(s.admin)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for page, address := range s.addresses() {
		before := s.site.Store.Queries()
		resp := b.get(address)
		body(s.t, resp)
		switch {
		case resp.StatusCode == http.StatusSeeOther || resp.StatusCode == http.StatusFound:
		case resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
			s.t.Errorf("%s answers %s at %s, which is no page", page, resp.Status, address)
		default:
			asked[page] = int(s.site.Store.Queries() - before)
		}
	}
	return asked
}
