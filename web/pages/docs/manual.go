// Package docs serves what explains the site, and the search over it: the documentation under /docs, what a score means
// (/trust), the harness, and the palette on every page (Ctrl+K).
//
// Read manual.go. Markdown is turned into HTML at the first request for a page: all pages at once would add a tenth of
// a second to a start. A page costs no query. To add a page, list it in package warpboard/docs; New lists the pages
// from other sources (task format, API, trust). A link to a file that is no page becomes plain text.
//
// palette.go finds tasks with their boards, people, own submissions, any submission by its number, pages of the site,
// and headings of the documentation; views/assets/palette.js sends the text while typing. It finds words anywhere in a
// title, and at the beginning of a name, for which there is an index, and offers only what the person may see, at most
// six of a kind. By a part of a number or by their task it searches only the newest fifty own submissions.
package docs

import (
	"fmt"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/docs"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Docs has the handlers of the documentation and the search.
type Docs struct {
	site            *site.Site
	runs            *runs.Runs
	highlighter     *views.Highlighter
	attacks         []views.Attack
	securityContact string // address for reporting security problems
	pageGroups      []views.DocsGroup
	pagesByName     map[string]docsPage // pages by name
}

// New returns the handlers of the documentation and the search.
func New(
	site *site.Site, runs *runs.Runs, code *views.Highlighter, attacks []views.Attack, contact string,
) (*Docs, error) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, fmt.Errorf("reading the documentation: %w", err)
	}
	m := &Docs{site: site, runs: runs, highlighter: code, attacks: attacks, securityContact: contact, pagesByName: map[string]docsPage{}, pageGroups: []views.DocsGroup{
		{For: docs.AudienceUse},
		{For: docs.AudienceAuthor, Links: []views.DocsLink{{Title: "Task format", URL: "/docs/tasks", About: "Every key of task.yml with an example, and starters to download."}}},
		{For: docs.AudienceOperate},
		{For: docs.AudienceAutomate, Links: []views.DocsLink{{Title: "API reference", URL: "/api", About: "Every address, parameter, and answer; OpenAPI to download."}}},
		{For: docs.AudienceUnderstand, Links: []views.DocsLink{{Title: "What a score means", URL: "/trust", About: "The short version, with the attacks that are tried and their outcomes."}}},
	}}
	for _, p := range pages {
		text := sync.OnceValues(func() (templ.Component,
			error) {
			return views.RenderDocumentation(p.Text(), docs.Anchor)
		})
		link := views.DocsLink{Title: p.Title, About: p.Summary, URL: templ.SafeURL("/docs/" + p.Name)}
		for _, heading := range p.Headings {
			link.Headings = append(link.Headings, views.DocsLink{Title: strings.ReplaceAll(heading, "`", ""), URL: link.URL + templ.SafeURL("#"+docs.Anchor(heading))})
		}
		m.pagesByName[p.Name] = docsPage{link, text}
		for i := range m.pageGroups {
			if m.pageGroups[i].For == p.Audience {
				m.pageGroups[i].Links = append(m.pageGroups[i].Links, link)
			}
		}
	}
	return m, nil
}

type docsPage struct {
	views.DocsLink
	render func() (templ.Component, error) // HTML, rendered at the first request
}

// PageLinks lists all pages of the documentation in reading order.
func (p *Docs) PageLinks() (list []views.DocsLink) {
	for _, group := range p.pageGroups {
		list = append(list, group.Links...)
	}
	return list
}

// Index lists the pages.
func (p *Docs) Index(c *fiber.Ctx) error {
	return p.site.Render(c, fiber.StatusOK, views.DocsIndex(views.DocsPage{Page: p.site.Page(c, "Docs", "docs"), All: p.pageGroups}))
}

// Page shows one page.
func (p *Docs) Page(c *fiber.Ctx) error {
	of, ok := p.pagesByName[c.Params("page")]
	if !ok {
		return site.NotFound(c)
	}
	text, err := of.render()
	if err != nil {
		return fmt.Errorf("reading docs/%s.md: %w", c.Params("page"), err)
	}
	return p.site.Render(c, fiber.StatusOK, views.Docs(views.DocsPage{Page: p.site.Page(c, of.Title, "docs"), Current: of.DocsLink, Text: text}))
}
