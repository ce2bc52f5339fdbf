package boards

import (
	"encoding/xml"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/docs"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/views"
)

// maxSiteMapAddresses limits the addresses in one sitemap (sitemaps.org).
const maxSiteMapAddresses = 50_000

// uncrawledPaths lists the path prefixes in robots.txt that crawlers should skip, because the pages are empty for
// visitors, or expensive and unlisted.
func uncrawledPaths() []string {
	return []string{"/api/v1/", "/audit", "/auth/", "/compare", "/find", "/join", "/login", "/me", "/mcp", "/operate", "/people", "/review", "/search", "/sign-in", "/tasks/new", "/webhooks",
		"/*/file", "/*/source", "/*/solve", "/*/edit", "/*/trial", "/*/members", "/*/rejudge", "/*/events", "/*/moderation", "/*?"}
}

// Robots responds with robots.txt: the paths that crawlers should skip, and the URL of the sitemap.
func (p *Boards) Robots(c *fiber.Ctx) error {
	text := "User-agent: *\n"
	for _, path := range uncrawledPaths() {
		text += fmt.Sprintf("Disallow: %s%s\n", p.site.BasePath, path)
	}
	text += fmt.Sprintf("\nSitemap: %s/sitemap.xml\n", p.site.Settings.BaseURL)
	return p.sendCacheable(c, fiber.MIMETextPlainCharsetUTF8, text, func() ([]byte, error) { return []byte(text), nil })
}

// siteMap is the XML of a sitemap (sitemaps.org).
type siteMap struct {
	XMLName   xml.Name         `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	Addresses []siteMapAddress `xml:"url"`
}

type siteMapAddress struct {
	Location string `xml:"loc"`
}

// SiteMap responds with the URLs of the public pages: tasks, their boards, and documentation.
func (p *Boards) SiteMap(c *fiber.Ctx) error {
	list, err := p.site.Store.TaskList(c.UserContext(), accounts.User{})
	if err != nil {
		return err
	}
	paths := []string{"/", "/leaderboards", "/playground", "/devices", "/trust", "/harness", "/api", "/docs", "/docs/tasks"}
	for _, name := range docs.PageNames() {
		paths = append(paths, "/docs/"+name)
	}
	for _, task := range list {
		paths = append(paths, string(views.TaskURL(task.Slug)))
		for _, device := range task.Devices {
			paths = append(paths, boardPath(task.Slug, device))
		}
	}
	var out siteMap
	for _, path := range paths[:min(len(paths), maxSiteMapAddresses)] {
		out.Addresses = append(out.Addresses, siteMapAddress{p.site.Settings.BaseURL + path})
	}
	text, err := xml.Marshal(out)
	if err != nil {
		return fmt.Errorf("writing the map of the site: %w", err)
	}
	return p.sendCacheable(c, "application/xml; charset=utf-8", string(text), func() ([]byte, error) { return append([]byte(xml.Header), text...), nil })
}

// SiteFeed responds with a feed of the records of all boards.
func (p *Boards) SiteFeed(c *fiber.Ctx) error {
	return p.sendFeed(c, "Records on Warpboard", "/", time.Unix(0, 0), boards.RecordFilter{})
}

// Icon responds with the site's icon at /favicon.ico. The pages reference a larger one.
func (p *Boards) Icon(c *fiber.Ctx) error { return p.sendPicture(c, "icon.png") }
