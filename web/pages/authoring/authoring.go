package authoring

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Authoring is the pages that make and change tasks.
type Authoring struct {
	site        *site.Site
	runs        *runs.Runs
	code        *views.Highlighter
	bundleLimit int // bytes of a task's zip
	checks      *pace
}

// New returns the pages that make and change tasks.
func New(site *site.Site, runs *runs.Runs, code *views.Highlighter, bundleLimit int) *Authoring {
	return &Authoring{site: site, runs: runs, code: code, bundleLimit: bundleLimit, checks: newPace()}
}

// BodyLimit lets creators send a task's zip.
func (p *Authoring) BodyLimit(c *fiber.Ctx) int {
	if user := site.Viewer(c); user != nil && user.MayCreate() {
		return p.bundleLimit + site.KernelBody
	}
	return site.SmallBody(c)
}
