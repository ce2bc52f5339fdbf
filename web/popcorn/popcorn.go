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
	// Path is the path of popcorn-cli's API on the site. The setting POPCORN_API_URL of popcorn-cli ends with it.
	Path = views.PopcornPath

	callerHeader = "X-Popcorn-Cli-Id"
	// statusInterval is the maximum interval of status events in a stream. popcorn-cli expects one every 15 seconds.
	statusInterval = 10 * time.Second
)

// Popcorn has the handlers of popcorn-cli's API.
type Popcorn struct {
	site *site.Site
	runs *runs.Runs
}

// New returns the handlers of popcorn-cli's API.
func New(site *site.Site, runs *runs.Runs) *Popcorn { return &Popcorn{site: site, runs: runs} }

// ConvertErrors responds to errors in the only format that popcorn-cli prints.
func (p *Popcorn) ConvertErrors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	f := site.FailureFromError(err)
	if f.Status >= fiber.StatusInternalServerError {
		p.site.Log.Error("popcorn request failed", "id", c.Locals(site.LocalRequestID), "path", site.LoggedPath(c), "err", err)
	}
	c.Response().ResetBody()
	c.Set(fiber.HeaderCacheControl, "no-store")
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Status == fiber.StatusUnauthorized {
		f.Message = "The token is not valid: it is unknown, has expired, or was revoked." + p.signInInstructions()
	}
	return c.Status(f.Status).JSON(fiber.Map{"detail": f.Message})
}

// signInInstructions returns the instructions that are appended to the error for an unknown sender.
func (p *Popcorn) signInInstructions() string {
	return fmt.Sprintf(" Create a token at %s/me#tokens and write the line \"cli_id: TOKEN\" into ~/.popcorn.yaml.", p.site.Settings.BaseURL)
}

// UseTokenHeader copies popcorn-cli's token header to the Authorization header, and removes cookies.
func UseTokenHeader(c *fiber.Ctx) error {
	header := &c.Request().Header
	header.DelAllCookies()
	if token := c.Get(callerHeader); token != "" {
		header.Set(fiber.HeaderAuthorization, "Bearer "+token)
	}
	return c.Next()
}

// RequireToken refuses requests without a token.
func (p *Popcorn) RequireToken(c *fiber.Ctx) error {
	if site.Viewer(c) == nil {
		return &site.Failure{
			Status:  fiber.StatusBadRequest,
			Code:    "caller",
			Message: "The request has no " + callerHeader + " header." + p.signInInstructions(),
		}
	}
	return c.Next()
}

// RefuseRegister refuses popcorn-cli's own sign-in, whose URLs of GPU MODE are compiled into it.
func (p *Popcorn) RefuseRegister(*fiber.Ctx) error {
	return site.Forbidden("register", "popcorn-cli can register with GPU MODE only, not with this site."+p.signInInstructions()+
		fmt.Sprintf(" Or run: warpboard login %s --popcorn.", p.site.Settings.BaseURL))
}

// Join makes the sender a member of an invite code's task.
func (p *Popcorn) Join(c *fiber.Ctx) error {
	var in struct{ Code string }
	if err := json.Unmarshal(c.Request().Body(), &in); err != nil || in.Code == "" {
		return site.Invalid("code", `Send the invite code as JSON: {"code": "…"}.`)
	}
	task, err := p.site.JoinTask(c, in.Code)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"leaderboards": []string{task.Slug}})
}

// RefuseAdmin refuses popcorn-cli's admin commands, which this site does not support.
func (p *Popcorn) RefuseAdmin(*fiber.Ctx) error {
	return site.Forbidden("admin", fmt.Sprintf(
		"Admins of this site use %s/operate instead of popcorn-cli's admin commands, and publish tasks with `warpboard task publish`.", p.site.Settings.BaseURL))
}
