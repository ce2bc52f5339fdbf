package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/static"
	"warpboard/views"
	"warpboard/web/site"
)

// agentsGetLinks holds what MCP answers to the public address, which the request to the site itself does not name.
func (s *profiledScene) agentsGetLinks(t *testing.T, home string) {
	t.Helper()
	token, _, err := s.site.Store.Accounts.CreateToken(t.Context(), s.admin.ID, "agent", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := (&evalSite{testSite: &testSite{url: s.url + labPath}}).agent(t, token)
	compared, refused := a.call("compare_runs", object{"a": s.first.SubmissionID, "b": s.second.SubmissionID})
	if want := fmt.Sprintf("%s/compare?a=%d&b=%d", home, s.first.ID, s.second.ID); compared["url"] != want {
		t.Errorf("an agent gets %v, want %s (%s)", compared["url"], want, refused)
	}
}

// below puts a site below a path of its address on this machine.
func below(c *Config) { c.BaseURL = "http://" + c.Addr + labPath }

func TestASiteBelowAPathAnswersThereAlone(t *testing.T) {
	s := startSite(t, below)
	b := s.browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct {
		method, path string
		status       int
		location     string
	}{
		{"GET", labPath + "/", 200, ""},
		{"GET", labPath, 308, labPath + "/"},
		{"GET", labPath + "?tag=easy", 308, labPath + "/?tag=easy"},
		{"GET", labPath + "/me", 303, labPath + "/sign-in?next=%2Fme"},
		{"GET", labPath + "/tags", 303, labPath + "/tasks"},
		{"GET", labPath + "/nothing", 404, ""},
		{"POST", labPath, 401, ""}, // the evaluation API, for clients that post to the address itself
		{"POST", labPath + "/evaluate", 401, ""},
		{"GET", labPath + "/healthz", 200, ""},
		{"GET", "/healthz", 200, ""},
		{"GET", "/readyz", 503, ""},
		{"GET", "/metrics", 200, ""},
		{"GET", "/", 404, ""},
		{"GET", "/tasks", 404, ""},
		{"GET", "/warpboards/", 404, ""},
		{"POST", "/evaluate", 404, ""},
		{"GET", "/static/" + static.Version() + "/site.js", 404, ""},
	} {
		resp := b.send(tt.method, tt.path, nil)
		if resp.StatusCode != tt.status || resp.Header.Get("Location") != tt.location {
			t.Errorf("%s %s: %s to %q, want %d to %q", tt.method, tt.path, resp.Status, resp.Header.Get("Location"), tt.status, tt.location)
		}
	}
	wantText(t, b.page("/tasks", http.StatusNotFound), "main", "The site is at "+s.site.Settings.BaseURL+"/; a proxy in front of it must leave /warpboard in the path.")
	wantProblem(t, b.get("/api/v1/tasks"), http.StatusNotFound, "outside")
	if kept := b.get(labPath + static.URL("site.js")).Header.Get("Cache-Control"); !strings.Contains(kept, "immutable") {
		t.Errorf("scripts are kept as %q", kept)
	}
}

func TestSigningInAndTheAPIBelowAPath(t *testing.T) {
	s := startSite(t, below)
	s.url += labPath
	b := s.browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := b.get(s.SignInLink() + "&next=" + url.QueryEscape("/me?done=saved"))
	if to := resp.Header.Get("Location"); to != labPath+"/me?done=saved" {
		t.Errorf("signing in leads to %q", to)
	}
	for _, cookie := range resp.Cookies() {
		if cookie.Path != labPath {
			t.Errorf("a cookie is for more than the site: %s", cookie.Raw)
		}
	}
	if !strings.Contains(fmt.Sprint(resp.Cookies()), site.SessionCookie) {
		t.Error("no session began")
	}

	command := s.api(accounts.User{})
	login, err := command.BeginLogin(t.Context(), "laptop")
	if err != nil || !strings.HasPrefix(login.URL, s.site.Settings.BaseURL+"/login?code=") {
		t.Errorf("the command line sends people to %+v, %v", login, err)
	}
	var described struct{ Servers []struct{ URL string } }
	decodeBody(t, b.get("/api/v1/openapi.json"), &described)
	if len(described.Servers) != 1 || described.Servers[0].URL != s.url {
		t.Errorf("OpenAPI names %v", described.Servers)
	}
	creator := modelstest.Person(t, s.site.Store, "Carla", accounts.RoleCreator)
	task := modelstest.Task(t, s.site.Store, creator, "vectoradd", "CPU")
	var found []struct{ URL string }
	decodeBody(t, b.get("/find"), &found)
	if len(found) != 1 || found[0].URL != labPath+"/tasks/"+task.Slug {
		t.Errorf("the search leads to %v", found)
	}
	sub, err := s.api(creator).Submit(t.Context(), client.NewSubmission{Task: task.Slug, Devices: []string{"CPU"}, Mode: "test", Source: "int main() {}"})
	if err != nil || sub.URL != fmt.Sprintf("%s/submissions/%d", s.url, sub.ID) {
		t.Errorf("a submission is %+v, %v", sub, err)
	}
}

// TestAgentsAskBelowAPathAsThemselves: what the site asks itself on their behalf has their address and their host.
func TestAgentsAskBelowAPathAsThemselves(t *testing.T) {
	s := newEvalSite(t, below, func(c *Config) { c.OpenEvalAPI = "loopback" })
	s.url += labPath
	if _, refused := s.agent(t, "").call("get_server_stats", object{}); refused != "" {
		t.Errorf("the operator is refused: %s", refused)
	}
}

func TestCookiesOfASharedHostAreForThePathAndTLSAlone(t *testing.T) {
	s := startSite(t, func(c *Config) { c.BaseURL = "https://lab.example.org" + labPath })
	resp := s.browser().get(labPath + "/sign-in")
	cookies := resp.Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Secure-"+site.VisitorCookie || cookies[0].Path != labPath || !cookies[0].Secure {
		t.Errorf("cookies %v", cookies)
	}
	if sent := resp.Header.Get("Strict-Transport-Security"); sent != "" {
		t.Errorf("the whole host is bound: %q", sent)
	}
}

// TestTextThatLooksLikeAnAddressStays holds the assumption of basepath.Path.HTML: wherever people's text is shown, its quotes are escaped.
func TestTextThatLooksLikeAnAddressStays(t *testing.T) {
	const text = `<a href="/x" src='/y'> href="/z action="/w" ="/`
	s := &site.Site{Mount: labPath}
	sources := views.NewHighlighter(1, views.MostColoured).Page()
	code := sources.Source("submission.py", text, []byte("# "+text+"\nx = +text+\n"))
	large := sources.Source("submission.txt", "", []byte(strings.Repeat("\n", 30_000)+text))
	markdown, err := views.Document("# "+text+"\n`"+text+"`\n\n["+text+"](https://x.example/?a="+url.QueryEscape(text)+" '"+text+"')\n\n```html\n"+text+"\n```\n\n    "+text+"\n\n| a |\n|---|\n| "+text+" |\n\n"+text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, component := range map[string]templ.Component{"a source": code.HTML, "a source without colours": large.HTML, "Markdown": markdown, "output": views.RunLogged("log", text)} {
		page, err := s.RenderToMemory(t.Context(), component)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), labPath) {
			t.Errorf("%s: the site's path is in %s", name, page)
		}
	}
	links, err := views.Document("[format](/docs/tasks)", nil)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := s.RenderToMemory(t.Context(), links); err != nil || !strings.Contains(string(page), `href="/warpboard/docs/tasks"`) {
		t.Errorf("a link of Markdown is %s, %v", page, err)
	}
}
