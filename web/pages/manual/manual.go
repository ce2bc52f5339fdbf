package manual

import (
	"fmt"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/docs"
	"warpboard/views"
	"warpboard/web/site"
)

// Manual is the pages below /docs.
type Manual struct {
	*site.Site
	list []views.DocsLink
	text map[string]templ.Component
}

// New returns the pages.
func New(site *site.Site) (*Manual, error) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, fmt.Errorf("reading the documentation: %w", err)
	}
	m := &Manual{Site: site, text: map[string]templ.Component{}}
	for _, page := range pages {
		if m.text[page.Name], err = views.Markdown(page.Text); err != nil {
			return nil, fmt.Errorf("reading docs/%s.md: %w", page.Name, err)
		}
		m.list = append(m.list, views.DocsLink{Name: page.Name, Title: page.Title})
	}
	return m, nil
}

// Index lists them.
func (m *Manual) Index(c *fiber.Ctx) error {
	return m.Render(c, fiber.StatusOK, views.DocsIndex(views.DocsPage{Page: m.Page(c, "Documentation", ""), All: m.list}))
}

// Show is one of them.
func (m *Manual) Show(c *fiber.Ctx) error {
	for _, link := range m.list {
		if link.Name == c.Params("page") {
			page := views.DocsPage{Page: m.Page(c, link.Title, ""), All: m.list, Current: link, Text: m.text[link.Name]}
			return m.Render(c, fiber.StatusOK, views.Docs(page))
		}
	}
	return site.NotFound(c)
}
