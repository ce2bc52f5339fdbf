package authoring

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Authoring has the handlers of the pages that create and change tasks.
type Authoring struct {
	site           *site.Site
	runs           *runs.Runs
	highlighter    *views.Highlighter
	bundleLimit    int // bytes of a task's zip
	checkLimiter   *site.RateLimiter
	previewLimiter *site.RateLimiter
}

// New returns the handlers of the pages that create and change tasks.
func New(on *site.Site, runs *runs.Runs, code *views.Highlighter, bundleLimit int) *Authoring {
	return &Authoring{site: on, runs: runs, highlighter: code, bundleLimit: bundleLimit,
		checkLimiter:   site.NewRateLimiter(liveCheckInterval, maxChecksAtOnce),
		previewLimiter: site.NewRateLimiter(liveCheckInterval, maxChecksAtOnce)}
}

// BodyLimit returns the limit of a request's body: large enough for a task's zip if the sender may create tasks.
func (p *Authoring) BodyLimit(c *fiber.Ctx) int {
	if user := site.Viewer(c); user != nil && user.MayCreateTasks() {
		return p.bundleLimit + site.MaxKernelBodyBytes
	}
	return site.SmallBodyLimit(c)
}
