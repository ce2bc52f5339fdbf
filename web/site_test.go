package web

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/site"
)

// testSite is a whole server on a real loopback listener, with a store of its own.
type testSite struct {
	*Server
	t     testing.TB
	cfg   Config
	url   string
	queue *idleQueue
	stop  func() // ends the server and waits for it
}

// idleQueue is a queue without workers; it notes what it was told.
type idleQueue struct {
	kicked    []string
	cancelled []string
}

func (q *idleQueue) WorkFor(string) error { return nil }

func (q *idleQueue) Prepare(job.Preparation) error { return nil }

func (q *idleQueue) Cancel(id string) error {
	q.cancelled = append(q.cancelled, id)
	return nil
}

func (q *idleQueue) Kick(name string) { q.kicked = append(q.kicked, name) }

// startSite serves until the test ends. The changes are applied to its configuration.
func startSite(t testing.TB, changes ...func(*Config)) *testSite {
	t.Helper()
	return startSiteAt(t, "127.0.0.1:0", modelstest.Open(t), changes...)
}

func startSiteAt(t testing.TB, addr string, store *models.Store, changes ...func(*Config)) *testSite {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	log, hub, queue := slog.New(slog.DiscardHandler), site.NewHub(), &idleQueue{}
	cfg := Config{SiteConfig: site.Config{Store: store, Hub: hub, Dispatcher: dispatch.NewDispatcher(store, queue, hub, log), Log: log,
		Settings: site.Settings{Addr: ln.Addr().String(), Version: "test"}}}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.BaseURL = cmp.Or(cfg.BaseURL, "http://"+cfg.Addr) // what the server takes where the configuration says nothing
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	running := &testSite{Server: s, t: t, cfg: cfg, queue: queue, url: "http://" + ln.Addr().String()}
	running.stop = func() {
		if cancel == nil {
			return
		}
		cancel()
		cancel = nil
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
	t.Cleanup(running.stop)
	return running
}

// browser is one person's browser: it keeps cookies, follows redirects and sends CSRF tokens with its forms.
type browser struct {
	*http.Client
	site *testSite
}

func (s *testSite) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	b := &browser{Client: &http.Client{Jar: jar, Transport: &http.Transport{}}, site: s}
	b.setCookie(site.VisitorCookie, "a visitor's secret")
	s.t.Cleanup(b.CloseIdleConnections)
	return b
}

// signedIn is a browser with a session that began with the developer sign-in, and so may sign in under another name.
func (s *testSite) signedIn(name string, role accounts.Role) *browser {
	s.t.Helper()
	b, ctx := s.browser(), context.Background()
	user, err := s.site.Store.Accounts.SignIn(ctx, accounts.SignIn{Provider: "developer", Subject: strings.ToLower(name), Name: name})
	if err == nil {
		err = s.site.Store.Accounts.SetRole(ctx, accounts.User{Name: "test", Role: accounts.RoleAdmin}, user.ID, role)
	}
	secret := ""
	if err == nil {
		secret, _, err = s.site.Store.Accounts.StartSession(ctx, accounts.NewSession{UserID: user.ID, Provider: "developer", Life: time.Hour})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	b.setCookie(site.SessionCookie, secret)
	return b
}

func (b *browser) address() *url.URL {
	u, err := url.Parse(b.site.url)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return u
}

func (b *browser) setCookie(name, value string) {
	b.Jar.SetCookies(b.address(), []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

func (b *browser) cookie(name string) string {
	for _, cookie := range b.Jar.Cookies(b.address()) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// csrf is the token that a page of the site would hold in this browser.
func (b *browser) csrf() string {
	if secret := b.cookie(site.SessionCookie); secret != "" {
		return site.DeriveToken(secret)
	}
	return site.DeriveToken(b.cookie(site.VisitorCookie))
}

func (b *browser) get(path string, headers ...string) *http.Response {
	b.site.t.Helper()
	return b.send(http.MethodGet, path, nil, headers...)
}

// post sends a form as a page of the site would.
func (b *browser) post(path string, form url.Values, headers ...string) *http.Response {
	b.site.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	if !form.Has(site.CSRFField) {
		form.Set(site.CSRFField, b.csrf())
	}
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
	return b.send(http.MethodPost, path, strings.NewReader(form.Encode()), headers...)
}

func (b *browser) send(method, path string, body io.Reader, headers ...string) *http.Response {
	b.site.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.site.url + path
	}
	req, err := http.NewRequest(method, path, body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := b.Do(req)
	if err != nil {
		b.site.t.Fatal(err)
	}
	b.site.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// api is a client of the JSON API with a fresh token of the user; the zero user is a visitor.
func (s *testSite) api(user accounts.User) *client.Client {
	s.t.Helper()
	if !user.SignedIn() {
		return client.New(s.url, "")
	}
	secret, _, err := s.site.Store.Accounts.CreateToken(context.Background(), user.ID, "test", 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return client.New(s.url, secret)
}

// moduleFile is where a file of the repository is, for tests of all folders.
func moduleFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func decodeBody(t testing.TB, resp *http.Response, into any) {
	t.Helper()
	text := body(t, resp)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s answered %s, no JSON: %s", asked(resp), resp.Status, text)
	}
}

func body(t testing.TB, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantStatus(t testing.TB, resp *http.Response, status int) {
	t.Helper()
	if resp.StatusCode != status {
		t.Errorf("%s answered %s, want %d: %s", asked(resp), resp.Status, status, body(t, resp))
	}
}

// wantProblem checks an API refusal by its stable code.
func wantProblem(t testing.TB, resp *http.Response, status int, code string) {
	t.Helper()
	wantStatus(t, resp, status)
	var p client.Problem
	decodeBody(t, resp, &p)
	if p.Code != code || p.Detail == "" || p.Status != status {
		t.Errorf("%s: problem %+v, want code %q", asked(resp), p, code)
	}
}

// asked names the request of an answer, as far as it is known.
func asked(resp *http.Response) string {
	if resp.Request == nil {
		return "the server"
	}
	return resp.Request.Method + " " + resp.Request.URL.String()
}
