package web

import "github.com/gofiber/fiber/v2"

// Authoring is the pages that make and change tasks.
type Authoring struct {
	*Runs
	bundleLimit int // bytes of a task's zip
}

// NewAuthoring returns the pages that make and change tasks.
func NewAuthoring(runs *Runs, bundleLimit int) *Authoring {
	return &Authoring{Runs: runs, bundleLimit: bundleLimit}
}

// bodyLimit lets creators send a task's zip.
func (p *Authoring) bodyLimit(c *fiber.Ctx) int {
	if user := viewer(c); user != nil && user.MayCreate() {
		return p.bundleLimit + KernelBody
	}
	return smallBody(c)
}
