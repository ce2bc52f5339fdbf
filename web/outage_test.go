package web_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// throughWire starts a site whose PostgreSQL connection the test can freeze and cut. It returns the token of a person
// who may submit to the site's task.
func throughWire(t *testing.T) (s *webtest.Site, wire *modelstest.FaultyProxy, token string) {
	wire = modelstest.NewWire(t)
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), DSN: wire.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return webtest.StartAt(t, "127.0.0.1:0", store), wire, submitter(t, store)
}

// submitter creates a task and an admin, and returns a token of the admin.
func submitter(t *testing.T, store *models.Store) (token string) {
	t.Helper()
	ann := modelstest.Person(t, store, "Ann", accounts.RoleAdmin)
	modelstest.Task(t, store, ann, "vectoradd", "CPU")
	token, _, err := store.Accounts.CreateToken(t.Context(), ann.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

const submission = `{"task": "vectoradd", "devices": ["CPU"], "mode": "test", "source": "int main;"}`

// wantLater fails the test unless the response is 503 with a Retry-After of 1 to 60 seconds.
func wantLater(t *testing.T, resp *http.Response) {
	t.Helper()
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != http.StatusServiceUnavailable || err != nil || wait < 1 || wait > 60 {
		t.Errorf("%s answered %s with Retry-After %q: %.300s", webtest.Asked(resp), resp.Status,
			resp.Header.Get("Retry-After"), webtest.Body(t, resp))
	}
}

func TestAFrozenDatabaseIsReportedInTwoSeconds(t *testing.T) {
	s, wire, _ := throughWire(t)
	webtest.WantStatus(t, s.Ask("GET", "/healthz", "", ""), http.StatusOK)
	wire.Freeze()
	began := time.Now()
	answers := make(chan *http.Response, 4)
	for _, path := range []string{"/healthz", "/healthz", "/readyz", "/healthz"} {
		go func() { answers <- s.Ask("GET", path, "", "") }()
	}
	for range cap(answers) {
		wantLater(t, <-answers)
	}
	// generous: without ProbeTimeout the requests would never end
	if took := time.Since(began); took > site.ProbeTimeout+time.Minute {
		t.Errorf("the answers took %s", took)
	}
	wire.Thaw()
	// The first probe after the thaw may share a ping that started before it.
	tier.Until(t, "a healthy site", func() bool { return s.Ask("GET", "/healthz", "", "").StatusCode == http.StatusOK })
}

func TestVisitorsRetryWhileTheDatabaseRestarts(t *testing.T) {
	s, wire, token := throughWire(t)
	webtest.WantStatus(t, s.Ask("POST", "/api/v1/submissions", token, submission), http.StatusCreated)
	wire.Cut()
	for _, path := range []string{"/", "/tasks", "/tasks/vectoradd", "/users/1", "/devices", "/api/v1/tasks",
		"/api/v1/me", "/health", "/stats", "/healthz"} {
		wantLater(t, s.Ask("GET", path, token, ""))
	}
	for _, path := range []string{"/api/v1/submissions", "/api/v1/submissions/1/cancel", "/evaluate"} {
		wantLater(t, s.Ask("POST", path, token, submission))
	}
	webtest.WantProblem(t, s.Ask("GET", "/api/v1/tasks", "", ""), http.StatusServiceUnavailable, "unavailable")
	wire.Restore()
	webtest.WantStatus(t, s.Ask("GET", "/", "", ""), http.StatusOK)
	webtest.WantStatus(t, s.Ask("POST", "/api/v1/submissions", token, submission), http.StatusCreated)
}

func TestAFullDiskAsksSubmittersToComeBack(t *testing.T) {
	store := modelstest.Open(t)
	s, token := webtest.StartAt(t, "127.0.0.1:0", store), submitter(t, store)
	limit := func(pages string) {
		if _, err := store.SQL().ExecContext(t.Context(), "pragma max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite raises the limit to the current number of pages
	big := strings.Replace(submission, "int main;", "int main;"+strings.Repeat("x", 500_000), 1)
	wantLater(t, s.Ask("POST", "/api/v1/submissions", token, big))
	webtest.WantStatus(t, s.Ask("GET", "/tasks/vectoradd", "", ""), http.StatusOK)
	limit("1000000")
	webtest.WantStatus(t, s.Ask("POST", "/api/v1/submissions", token, big), http.StatusCreated)
}
