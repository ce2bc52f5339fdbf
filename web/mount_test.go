package web_test

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
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// agentsGetLinks checks that MCP answers contain the site's public URL, although the agent's request names the local
// address.
func agentsGetLinks(s *webtest.ProfiledScene, t *testing.T, home string) {
	t.Helper()
	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.Admin.ID, "agent", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := (&webtest.EvalSite{Site: &webtest.Site{URL: s.URL + webtest.LabPath}}).Agent(t, token)
	compared, refused := a.Call("compare_runs", webtest.Object{"a": s.First.SubmissionID, "b": s.Second.SubmissionID})
	if want := fmt.Sprintf("%s/compare?a=%d&b=%d", home, s.First.ID, s.Second.ID); compared["url"] != want {
		t.Errorf("an agent gets %v, want %s (%s)", compared["url"], want, refused)
	}
}

func TestASiteBelowAPathAnswersThereAlone(t *testing.T) {
	s := webtest.Start(t, webtest.Below)
	b := s.Browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct {
		method, path string
		status       int
		location     string
	}{
		{"GET", webtest.LabPath + "/", 200, ""},
		{"GET", webtest.LabPath, 308, webtest.LabPath + "/"},
		{"GET", webtest.LabPath + "?tag=easy", 308, webtest.LabPath + "/?tag=easy"},
		{"GET", webtest.LabPath + "/me", 303, webtest.LabPath + "/sign-in?next=%2Fme"},
		{"GET", webtest.LabPath + "/tags", 303, webtest.LabPath + "/tasks"},
		{"GET", webtest.LabPath + "/nothing", 404, ""},
		{"POST", webtest.LabPath, 401, ""}, // clients of the evaluation API may post to the site's root
		{"POST", webtest.LabPath + "/evaluate", 401, ""},
		{"GET", webtest.LabPath + "/healthz", 200, ""},
		{"GET", "/healthz", 200, ""},
		{"GET", "/readyz", 503, ""},
		{"GET", "/metrics", 200, ""},
		{"GET", "/", 404, ""},
		{"GET", "/tasks", 404, ""},
		{"GET", "/warpboards/", 404, ""},
		{"POST", "/evaluate", 404, ""},
		{"GET", "/static/" + static.Version() + "/site.js", 404, ""},
	} {
		resp := b.Send(tt.method, tt.path, nil)
		if resp.StatusCode != tt.status || resp.Header.Get("Location") != tt.location {
			t.Errorf("%s %s: %s to %q, want %d to %q", tt.method, tt.path, resp.Status, resp.Header.Get("Location"),
				tt.status, tt.location)
		}
	}
	webtest.WantText(t, b.Page("/tasks", http.StatusNotFound), "main",
		"The site is at "+s.Cfg.Settings.BaseURL+"/; a proxy in front of it must leave /warpboard in the path.")
	webtest.WantProblem(t, b.Get("/api/v1/tasks"), http.StatusNotFound, "outside")
	if kept := b.Get(webtest.LabPath + static.URL("site.js")).Header.Get("Cache-Control"); !strings.Contains(kept,
		"immutable") {
		t.Errorf("scripts are kept as %q", kept)
	}
}

func TestSigningInAndTheAPIBelowAPath(t *testing.T) {
	s := webtest.Start(t, webtest.Below)
	s.URL += webtest.LabPath
	b := s.Browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := b.Get(s.SignInLink() + "&next=" + url.QueryEscape("/me?done=saved"))
	if to := resp.Header.Get("Location"); to != webtest.LabPath+"/me?done=saved" {
		t.Errorf("signing in leads to %q", to)
	}
	for _, cookie := range resp.Cookies() {
		if cookie.Path != webtest.LabPath {
			t.Errorf("a cookie is for more than the site: %s", cookie.Raw)
		}
	}
	if !strings.Contains(fmt.Sprint(resp.Cookies()), site.SessionCookie) {
		t.Error("no session began")
	}

	command := s.API(accounts.User{})
	login, err := command.BeginLogin(t.Context(), "laptop")
	if err != nil || !strings.HasPrefix(login.URL, s.Cfg.Settings.BaseURL+"/login?code=") {
		t.Errorf("the command line sends people to %+v, %v", login, err)
	}
	var described struct{ Servers []struct{ URL string } }
	webtest.DecodeBody(t, b.Get("/api/v1/openapi.json"), &described)
	if len(described.Servers) != 1 || described.Servers[0].URL != s.URL {
		t.Errorf("OpenAPI names %v", described.Servers)
	}
	creator := modelstest.Person(t, s.Cfg.Store, "Carla", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, creator, "vectoradd", "CPU")
	var found []struct{ URL string }
	webtest.DecodeBody(t, b.Get("/find"), &found)
	if len(found) != 1 || found[0].URL != webtest.LabPath+"/tasks/"+task.Slug {
		t.Errorf("the search leads to %v", found)
	}
	sub, err := s.API(creator).Submit(t.Context(),
		client.NewSubmission{Task: task.Slug, Devices: []string{"CPU"}, Mode: "test", Source: "int main() {}"})
	if err != nil || sub.URL != fmt.Sprintf("%s/submissions/%d", s.URL, sub.ID) {
		t.Errorf("a submission is %+v, %v", sub, err)
	}
}

// TestAgentsAskBelowAPathAsThemselves checks that the API requests that the site sends to itself for an agent carry the
// agent's address and Host header.
func TestAgentsAskBelowAPathAsThemselves(t *testing.T) {
	s := webtest.NewEvalSite(t, webtest.Below, func(c *web.Config) { c.TokenlessEvaluators = "loopback" })
	s.URL += webtest.LabPath
	if _, refused := s.Agent(t, "").Call("get_server_stats", webtest.Object{}); refused != "" {
		t.Errorf("the operator is refused: %s", refused)
	}
}

func TestCookiesOfASharedHostAreForThePathAndTLSAlone(t *testing.T) {
	s := webtest.Start(t, func(c *web.Config) { c.BaseURL = "https://lab.example.org" + webtest.LabPath })
	resp := s.Browser().Get(webtest.LabPath + "/sign-in")
	cookies := resp.Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Secure-"+site.VisitorCookie || cookies[0].Path != webtest.LabPath ||
		!cookies[0].Secure {
		t.Errorf("cookies %v", cookies)
	}
	if sent := resp.Header.Get("Strict-Transport-Security"); sent != "" {
		t.Errorf("the whole host is bound: %q", sent)
	}
}

// TestTextThatLooksLikeAnAddressStays checks the assumption of BasePath.RewriteHTML: pages escape the quotes in all
// texts of users, so no text can look like an attribute.
func TestTextThatLooksLikeAnAddressStays(t *testing.T) {
	const text = `<a href="/x" src='/y'> href="/z action="/w" ="/`
	s := &site.Site{BasePath: webtest.LabPath}
	sources := views.NewHighlighter(1, views.MaxHighlightedBytes).NewSourceLimiter()
	code := sources.ColorFile("submission.py", text, []byte("# "+text+"\nx = +text+\n"))
	large := sources.ColorFile("submission.txt", "", []byte(strings.Repeat("\n", 30_000)+text))
	markdown, err := views.RenderDocumentation("# "+text+"\n`"+text+"`\n\n["+text+"](https://x.example/?a="+url.QueryEscape(text)+
		" '"+text+"')\n\n```html\n"+text+"\n```\n\n    "+text+"\n\n| a |\n|---|\n| "+text+" |\n\n"+text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, component := range map[string]templ.Component{"a source": code.HTML,
		"a source without colours": large.HTML, "Markdown": markdown, "output": views.RunLogged("log", text)} {
		page, err := s.RenderToMemory(t.Context(), component)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), webtest.LabPath) {
			t.Errorf("%s: the site's path is in %s", name, page)
		}
	}
	links, err := views.RenderDocumentation("[format](/docs/tasks)", nil)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := s.RenderToMemory(t.Context(), links); err != nil ||
		!strings.Contains(string(page), `href="/warpboard/docs/tasks"`) {
		t.Errorf("a link of Markdown is %s, %v", page, err)
	}
}
