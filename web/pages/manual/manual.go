package manual

import (
	"fmt"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/docs"
	"warpboard/views"
	"warpboard/web/site"
)

// Manual is the pages below /docs.
type Manual struct {
	site *site.Site
	list []views.DocsGroup
	text map[string]page // by their names
}

type page struct {
	views.DocsLink
	text func() (templ.Component, error) // HTML, made when it is first asked for
}

// New returns the pages.
func New(site *site.Site) (*Manual, error) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, fmt.Errorf("reading the documentation: %w", err)
	}
	m := &Manual{site: site, text: map[string]page{}, list: []views.DocsGroup{
		{For: docs.Use},
		{For: docs.Author, Links: []views.DocsLink{{Title: "Task format", URL: "/docs/tasks", About: "Every key of task.yml with an example, and starters to download."}}},
		{For: docs.Operate},
		{For: docs.Automate, Links: []views.DocsLink{{Title: "API reference", URL: "/api", About: "Every address, parameter, and answer; OpenAPI to download."}}},
		{For: docs.Understand, Links: []views.DocsLink{{Title: "What a score means", URL: "/trust", About: "The short version, with the attacks that are tried and their outcomes."}}},
	}}
	for _, p := range pages {
		text := sync.OnceValues(func() (templ.Component, error) { return views.Document(p.Text(), docs.Anchor) })
		link := views.DocsLink{Title: p.Title, About: p.About, URL: templ.SafeURL("/docs/" + p.Name)}
		for _, heading := range p.Headings {
			link.Headings = append(link.Headings, views.DocsLink{Title: strings.ReplaceAll(heading, "`", ""), URL: link.URL + templ.SafeURL("#"+docs.Anchor(heading))})
		}
		m.text[p.Name] = page{link, text}
		for i := range m.list {
			if m.list[i].For == p.For {
				m.list[i].Links = append(m.list[i].Links, link)
			}
		}
	}
	return m, nil
}

// Links are all pages, in the order in which they are listed.
func (m *Manual) Links() (list []views.DocsLink) {
	for _, group := range m.list {
		list = append(list, group.Links...)
	}
	return list
}

// Index lists them.
func (m *Manual) Index(c *fiber.Ctx) error {
	return m.site.Render(c, fiber.StatusOK, views.DocsIndex(views.DocsPage{Page: m.site.Page(c, "Docs", "docs"), All: m.list}))
}

// Show is one of them.
func (m *Manual) Show(c *fiber.Ctx) error {
	of, ok := m.text[c.Params("page")]
	if !ok {
		return site.NotFound(c)
	}
	text, err := of.text()
	if err != nil {
		return fmt.Errorf("reading docs/%s.md: %w", c.Params("page"), err)
	}
	return m.site.Render(c, fiber.StatusOK, views.Docs(views.DocsPage{Page: m.site.Page(c, of.Title, "docs"), Current: of.DocsLink, Text: text}))
}
