package docs

import (
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/harness"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// harnessSets returns Warpboard's harnesses in the order in which the page shows them.
func harnessSets() []views.HarnessSet {
	var sets []views.HarnessSet
	for _, form := range []tasks.Protocol{tasks.ProtocolEval, tasks.ProtocolLegacy} {
		for _, lang := range []tasks.Lang{tasks.LangCUDA, tasks.LangPython, tasks.LangCPP} {
			sets = append(sets, views.HarnessSet{Form: form, Lang: lang})
		}
	}
	return sets
}

// harnessOfPath returns the harness of the path and its source files.
func harnessOfPath(c *fiber.Ctx) (set views.HarnessSet, sources map[string][]byte, err error) {
	set = views.HarnessSet{Form: tasks.Protocol(c.Params("form")), Lang: tasks.Lang(c.Params("lang"))}
	if !slices.Contains(harnessSets(), set) {
		return set, nil, site.NotFound(c)
	}
	return set, harness.Sources(set.Form, set.Lang), nil
}

// Harnesses redirects to the first harness.
func (p *Docs) Harnesses(c *fiber.Ctx) error {
	return c.Redirect(string(harnessSets()[0].URL()), fiber.StatusSeeOther)
}

// Harness shows the source of one of Warpboard's harnesses.
func (p *Docs) Harness(c *fiber.Ctx) error {
	set, sources, err := harnessOfPath(c)
	if err != nil {
		return err
	}
	page := views.HarnessPage{Page: p.site.Page(c, "Harness: "+set.Label(), "docs"), Set: set, Sets: harnessSets()}
	code := p.highlighter.NewSourceLimiter()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		page.Files = append(page.Files, code.ColorFile(name, name+"-", sources[name]))
	}
	return p.site.Render(c, fiber.StatusOK, views.Harness(page))
}

// HarnessFile responds with one file of a harness.
func (p *Docs) HarnessFile(c *fiber.Ctx) error {
	_, sources, err := harnessOfPath(c)
	if err != nil {
		return err
	}
	name := c.Query("name")
	text, ok := sources[name]
	if !ok {
		return site.NotFound(c)
	}
	return site.SendAttachment(c, name, text)
}
