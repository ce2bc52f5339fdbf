package popcorn

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

const (
	// Path is the site's path for popcorn-cli: POPCORN_API_URL ends with it.
	Path = views.PopcornPath

	callerHeader = "X-Popcorn-Cli-Id"
	// statusEvery is the longest pause between status lines of a followed submission; popcorn-cli expects one in 15
	// seconds.
	statusEvery = 10 * time.Second
)

// Popcorn has the handlers for popcorn-cli.
type Popcorn struct {
	site *site.Site
	runs *runs.Runs
}

// New returns the handlers over the shared part of submissions.
func New(site *site.Site, runs *runs.Runs) *Popcorn { return &Popcorn{site: site, runs: runs} }

// Errors answers an error in the only form that popcorn-cli prints.
func (p *Popcorn) Errors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	f := site.FailureOf(err)
	if f.Status >= fiber.StatusInternalServerError {
		p.site.Log.Error("popcorn request failed", "id", c.Locals(site.LocalRequestID), "path", site.LoggedPath(c), "err", err)
	}
	c.Response().ResetBody()
	c.Set(fiber.HeaderCacheControl, "no-store")
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Status == fiber.StatusUnauthorized {
		f.Message = "The token is not valid: it is unknown, has expired, or was revoked." + p.howToSignIn()
	}
	return c.Status(f.Status).JSON(fiber.Map{"detail": f.Message})
}

// howToSignIn is appended to a refusal of an unknown sender.
func (p *Popcorn) howToSignIn() string {
	return fmt.Sprintf(" Create a token at %s/me#tokens and write the line \"cli_id: TOKEN\" into ~/.popcorn.yaml.", p.site.Settings.BaseURL)
}

// Caller turns popcorn-cli's token header into Authorization, and drops cookies.
func Caller(c *fiber.Ctx) error {
	header := &c.Request().Header
	header.DelAllCookies()
	if token := c.Get(callerHeader); token != "" {
		header.Set(fiber.HeaderAuthorization, "Bearer "+token)
	}
	return c.Next()
}

// NeedsCaller refuses requests without a token.
func (p *Popcorn) NeedsCaller(c *fiber.Ctx) error {
	if site.Viewer(c) == nil {
		return &site.Failure{
			Status:  fiber.StatusBadRequest,
			Code:    "caller",
			Message: "The request has no " + callerHeader + " header." + p.howToSignIn(),
		}
	}
	return c.Next()
}

// Register refuses popcorn-cli's own sign-in: the URLs that it opens for that are compiled in, and GPU MODE's.
func (p *Popcorn) Register(*fiber.Ctx) error {
	return site.Forbidden("register", "popcorn-cli can register with GPU MODE only, not with this site."+p.howToSignIn()+
		fmt.Sprintf(" Or run: warpboard login %s --popcorn.", p.site.Settings.BaseURL))
}

// Join makes the caller a member of the invite code's leaderboard.
func (p *Popcorn) Join(c *fiber.Ctx) error {
	var in struct{ Code string }
	if err := json.Unmarshal(c.Request().Body(), &in); err != nil || in.Code == "" {
		return site.Invalid("code", `Send the invite code as JSON: {"code": "…"}.`)
	}
	task, err := p.site.Join(c, in.Code)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"leaderboards": []string{task.Slug}})
}

// Admin refuses the commands of admins, who use the site's pages and commands.
func (p *Popcorn) Admin(*fiber.Ctx) error {
	return site.Forbidden("admin", fmt.Sprintf(
		"Admins of this site use %s/operate instead of popcorn-cli's admin commands, and publish tasks with `warpboard task publish`.", p.site.Settings.BaseURL))
}
