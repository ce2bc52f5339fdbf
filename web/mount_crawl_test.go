package web_test

import (
	"context"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/gofiber/fiber/v2"
	"golang.org/x/net/html"

	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/web"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

// crawler follows all URLs in pages, one URL for each route and set of query parameters. It checks that each URL is
// below the site's path.
type crawler struct {
	*webtest.ProfiledScene
	t       *testing.T
	client  *http.Client
	home    *url.URL
	cookie  string
	routes  []fiber.Route
	waiting []string // URLs that are not yet requested
	known   map[string]bool
	forms   int
	kinds   map[string]int // number of responses by content type
}

// TestNothingLeavesThePathOfASite crawls a site below a path, behind nginx, as a visitor and as an admin. Every URL in
// a page must work: of links, forms, scripts, styles, images, live streams, and feeds.
func TestNothingLeavesThePathOfASite(t *testing.T) {
	const home = "https://lab.example.org" + webtest.LabPath
	s := webtest.NewProfiledScene(t, func(c *web.Config) { c.BaseURL = home }, webtest.Signs(t))
	through := proxyBefore(s.Scene.Site, t, "nginx", home)
	through.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	secret, _, err := s.Cfg.Store.Accounts.StartSession(t.Context(),
		accounts.NewSession{UserID: s.Admin.ID, Provider: "test", Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	agentsGetLinks(s, t, home)
	pages := lookedAt(s)
	for who, cookie := range map[string]string{"visitor": "", "admin": "__Secure-" + site.SessionCookie + "=" +
		secret} {
		t.Run(who, func(t *testing.T) {
			c := crawler{ProfiledScene: s, t: t, client: through, home: s.Shared().Base, cookie: cookie,
				routes: s.App().GetRoutes(true), known: map[string]bool{}, kinds: map[string]int{}}
			for _, path := range pages {
				c.ask(home + path)
			}
			for len(c.waiting) > 0 {
				next := c.waiting[0]
				c.waiting = c.waiting[1:]
				c.ask(next)
			}
			t.Logf("%d addresses beyond %d pages, %d forms: %v", len(c.known), len(pages), c.forms, c.kinds)
			for _, kind := range []string{"text/html", "text/css", "text/javascript", "image/svg+xml", "font/woff2",
				"text/event-stream", "application/atom+xml", "application/json"} {
				if c.kinds[kind] == 0 {
					t.Errorf("nothing led to %s", kind)
				}
			}
		})
	}
}

// follow queues a URL, unless one with the same route and the same query parameters was queued before.
func (c *crawler) follow(address string) {
	u, err := url.Parse(address)
	if err != nil {
		c.t.Fatal(err)
	}
	kind := c.route(http.MethodGet, u) + " " + strings.Join(slices.Sorted(maps.Keys(u.Query())), " ")
	if strings.Contains(kind, "/static/") {
		kind = address
	}
	if !c.known[kind] {
		c.known[kind] = true
		c.waiting = append(c.waiting, address)
	}
}

// route returns the route that matches a URL, or "" if only the handler of unknown paths does.
func (c *crawler) route(method string, u *url.URL) string {
	path := strings.TrimPrefix(u.EscapedPath(), webtest.LabPath)
	for _, r := range c.routes {
		if r.Method == method && (web.Fits(r.Path, path) || r.Path == path) {
			return r.Path
		}
	}
	return ""
}

func (c *crawler) ask(address string) {
	ctx, cancel := context.WithTimeout(c.t.Context(), tier.Patience())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	req.Header.Set("Cookie", c.cookie)
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Errorf("%s: %v", address, err)
		return
	}
	defer resp.Body.Close()
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	c.kinds[kind]++
	switch {
	case resp.Header.Get("Location") != "":
		c.name(req.URL, "redirect", "Location", resp.Header.Get("Location"))
		return
	case resp.StatusCode == http.StatusNotFound && req.URL.Path != webtest.LabPath+"/nothing", resp.StatusCode >= 500:
		c.t.Errorf("%s is led to and answers %s", address, resp.Status)
	case kind == "text/event-stream":
		return // a live stream never ends
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Errorf("%s: %v", address, err)
	}
	switch kind {
	case "text/html":
		c.page(req.URL, string(text))
	case "text/css":
		for _, m := range regexp.MustCompile(`url\("?([^")]+)`).FindAllStringSubmatch(string(text), -1) {
			c.name(req.URL, "style", "url", m[1])
		}
	case "application/atom+xml":
		c.feed(req.URL, string(text))
	}
}

// texts lists the attributes whose values are not URLs, even if they begin with a slash.
var texts = map[string]bool{"value": true, "aria-keyshortcuts": true, "title": true, "aria-label": true, "alt": true,
	"placeholder": true}

func (c *crawler) page(at *url.URL, text string) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, node := range doc.Find("*").Nodes {
		c.element(at, node)
	}
}

func (c *crawler) element(at *url.URL, node *html.Node) {
	posts := false
	for _, a := range node.Attr {
		posts = posts || node.Data == "form" && a.Key == "method" && strings.EqualFold(a.Val, "post")
	}
	for _, a := range node.Attr {
		switch {
		case a.Key == "hx-post" || a.Key == "formaction" || posts && a.Key == "action":
			c.form(at, a.Val)
		case a.Key == "href" && node.Data == "use", strings.HasPrefix(a.Val, "data:"):
		case slices.Contains([]string{"href", "src", "action", "hx-get", "hx-sse:connect"}, a.Key):
			c.name(at, node.Data, a.Key, a.Val)
		case strings.HasPrefix(a.Val, "/") && !texts[a.Key]:
			c.name(at, node.Data, a.Key, a.Val)
		}
	}
}

// name checks that a URL is below the site's path and queues it. It ignores URLs of other hosts.
func (c *crawler) name(at *url.URL, where, attribute, address string) {
	u, err := at.Parse(address)
	switch {
	case err != nil:
		c.t.Errorf("%s: %s %s=%q: %v", at, where, attribute, address, err)
	case u.Host != c.home.Host || u.Scheme == "mailto":
	case !strings.HasPrefix(u.Path, webtest.LabPath+"/"):
		c.t.Errorf("%s: %s %s=%q leaves the site's path", at, where, attribute, address)
	default:
		u.Fragment = ""
		c.follow(u.String())
	}
}

// form checks that a POST route exists for the URL of a form. It does not send the form.
func (c *crawler) form(at *url.URL, address string) {
	u, err := at.Parse(address)
	if err != nil || !strings.HasPrefix(u.Path, webtest.LabPath+"/") || u.Host != c.home.Host ||
		c.route(http.MethodPost, u) == "" {
		c.t.Errorf("%s: a form is sent to %q, which is not there: %v", at, address, err)
	}
	c.forms++
}

func (c *crawler) feed(at *url.URL, text string) {
	var feed struct {
		ID      string `xml:"id"`
		Links   []link `xml:"link"`
		Entries []struct {
			ID    string `xml:"id"`
			Links []link `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(text), &feed); err != nil {
		c.t.Fatal(err)
	}
	links := append(feed.Links, link{Href: feed.ID})
	for _, e := range feed.Entries {
		links = append(append(links, e.Links...), link{Href: e.ID})
	}
	for _, l := range links {
		if !strings.HasPrefix(l.Href, c.home.String()+"/") {
			c.t.Errorf("%s names %q", at, l.Href)
		}
	}
}

type link struct {
	Href string `xml:"href,attr"`
}
