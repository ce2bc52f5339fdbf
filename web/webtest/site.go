package webtest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
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
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/site"
)

// Site is a whole server on a real loopback listener, with its own store.
type Site struct {
	*web.Server
	T     testing.TB
	Cfg   web.Config
	URL   string
	Queue *IdleQueue
	Stop  func() // stops the server and waits for its end
}

// IdleQueue is a message queue without workers. It records cancellations and disconnected workers.
type IdleQueue struct {
	kicked    []string
	Cancelled []string
}

// AnnounceWork does nothing.
func (q *IdleQueue) AnnounceWork(string) error { return nil }

// AnnounceCancellation records the cancelled attempt.
func (q *IdleQueue) AnnounceCancellation(id string) error {
	q.Cancelled = append(q.Cancelled, id)
	return nil
}

// DisconnectWorker records the disconnected worker.
func (q *IdleQueue) DisconnectWorker(name string) { q.kicked = append(q.kicked, name) }

// MaxMessage returns a size in bytes. The value does not matter, because no worker receives a job.
func (q *IdleQueue) MaxMessage() int { return 1 << 20 }

// Start starts a site that runs until the test ends. changes modify the site's configuration.
func Start(t testing.TB, changes ...func(*web.Config)) *Site {
	t.Helper()
	return StartAt(t, "127.0.0.1:0", modelstest.Open(t), changes...)
}

// StartAt starts a site at an address, on an existing store. It runs until the test ends. changes modify the site's
// configuration.
func StartAt(t testing.TB, addr string, store *models.Store, changes ...func(*web.Config)) *Site {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	log, hub, queue := slog.New(slog.DiscardHandler), site.NewHub(), &IdleQueue{}
	cfg := web.Config{SiteConfig: site.Config{Store: store, Hub: hub,
		Dispatcher: dispatch.NewDispatcher(store, queue, hub, log), Log: log,
		Settings: site.Settings{Addr: ln.Addr().String(), Version: "test"}}}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.BaseURL = cmp.Or(cfg.BaseURL, "http://"+cfg.Addr) // the default that web.New sets
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	running := &Site{Server: s, T: t, Cfg: cfg, Queue: queue, URL: "http://" + ln.Addr().String()}
	running.Stop = func() {
		if cancel == nil {
			return
		}
		cancel()
		cancel = nil
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
	t.Cleanup(running.Stop)
	return running
}

// Browser is one person's browser: it keeps cookies, follows redirects, and sends CSRF tokens with its forms.
type Browser struct {
	*http.Client
	Site *Site
}

// Browser returns a browser that is not signed in.
func (s *Site) Browser() *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	b := &Browser{Client: &http.Client{Jar: jar, Transport: &http.Transport{}}, Site: s}
	b.SetCookie(site.VisitorCookie, "a visitor's secret")
	s.T.Cleanup(b.CloseIdleConnections)
	return b
}

// SignedIn returns a browser that is signed in as the named person by the developer sign-in, which allows it to change
// to another name and role.
func (s *Site) SignedIn(name string, role accounts.Role) *Browser {
	s.T.Helper()
	b, ctx := s.Browser(), context.Background()
	user, err := s.Cfg.Store.Accounts.SignIn(ctx,
		accounts.ProviderSignIn{Provider: "developer", Subject: strings.ToLower(name), Name: name})
	if err == nil {
		err = s.Cfg.Store.Accounts.SetRole(ctx, accounts.User{Name: "test", Role: accounts.RoleAdmin}, user.ID, role)
	}
	secret := ""
	if err == nil {
		secret, _, err = s.Cfg.Store.Accounts.StartSession(ctx,
			accounts.NewSession{UserID: user.ID, Provider: "developer", Lifetime: time.Hour})
	}
	if err != nil {
		s.T.Fatal(err)
	}
	b.SetCookie(site.SessionCookie, secret)
	return b
}

func (b *Browser) address() *url.URL {
	u, err := url.Parse(b.Site.URL)
	if err != nil {
		b.Site.T.Fatal(err)
	}
	return u
}

// SetCookie sets a cookie for the site.
func (b *Browser) SetCookie(name, value string) {
	b.Jar.SetCookies(b.address(), []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// Cookie returns the value of a cookie, or "".
func (b *Browser) Cookie(name string) string {
	for _, cookie := range b.Jar.Cookies(b.address()) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// CSRF returns the CSRF token of this browser for forms.
func (b *Browser) CSRF() string {
	if secret := b.Cookie(site.SessionCookie); secret != "" {
		return site.DeriveToken(secret)
	}
	return site.DeriveToken(b.Cookie(site.VisitorCookie))
}

// Get requests a path. headers has names and values in turn.
func (b *Browser) Get(path string, headers ...string) *http.Response {
	b.Site.T.Helper()
	return b.Send(http.MethodGet, path, nil, headers...)
}

// Post sends a form with the CSRF token, as a page of the site does.
func (b *Browser) Post(path string, form url.Values, headers ...string) *http.Response {
	b.Site.T.Helper()
	sent := url.Values{}
	maps.Copy(sent, form) // several goroutines may send the same form
	if !sent.Has(site.CSRFField) {
		sent.Set(site.CSRFField, b.CSRF())
	}
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
	return b.Send(http.MethodPost, path, strings.NewReader(sent.Encode()), headers...)
}

// Send sends a request with the browser's cookies.
func (b *Browser) Send(method, path string, body io.Reader, headers ...string) *http.Response {
	b.Site.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.Site.URL + path
	}
	req, err := http.NewRequest(method, path, body)
	if err != nil {
		b.Site.T.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := b.Do(req)
	if err != nil {
		b.Site.T.Fatal(err)
	}
	b.Site.T.Cleanup(func() { resp.Body.Close() })
	return resp
}

// API returns a client of the JSON API with a new token of the user. For the zero user it has no token.
func (s *Site) API(user accounts.User) *client.Client {
	s.T.Helper()
	if !user.SignedIn() {
		return client.New(s.URL, "")
	}
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(context.Background(), user.ID, "test", 0)
	if err != nil {
		s.T.Fatal(err)
	}
	return client.New(s.URL, secret)
}

// moduleFile returns the path of a file in the repository. It works in the tests of any folder.
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

// DecodeBody decodes the body of a response as JSON.
func DecodeBody(t testing.TB, resp *http.Response, into any) {
	t.Helper()
	text := Body(t, resp)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s answered %s, no JSON: %s", Asked(resp), resp.Status, text)
	}
}

// Body returns the body of a response as text.
func Body(t testing.TB, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// WantStatus checks the status of a response.
func WantStatus(t testing.TB, resp *http.Response, status int) {
	t.Helper()
	if resp.StatusCode != status {
		t.Errorf("%s answered %s, want %d: %s", Asked(resp), resp.Status, status, Body(t, resp))
	}
}

// WantProblem checks that a response is a problem document with the given status and error code.
func WantProblem(t testing.TB, resp *http.Response, status int, code string) {
	t.Helper()
	WantStatus(t, resp, status)
	var p client.Problem
	DecodeBody(t, resp, &p)
	if p.Code != code || p.Detail == "" || p.Status != status {
		t.Errorf("%s: problem %+v, want code %q", Asked(resp), p, code)
	}
}

// Asked returns the method and URL of a response's request, for messages of failed tests.
func Asked(resp *http.Response) string {
	if resp.Request == nil {
		return "the server"
	}
	return resp.Request.Method + " " + resp.Request.URL.String()
}
