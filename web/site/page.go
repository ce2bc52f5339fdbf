package site

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/catalog"
	"warpboard/views"
)

// noticeTexts maps the value of ?done= to the message that a page shows after a change.
var noticeTexts = map[string]string{
	"saved":     "Saved.",
	"discarded": "Discarded. These are the published files.",

	"published-public":   "Published. Everyone can see the task now.",
	"published-unlisted": "Published. Everyone with the link can see the task now.",
	"published-members":  "Published. Members can see the task now. Invite them under Edit.",
	"published-hidden":   "Saved as a draft. Only you and admins see it.",

	"tried-some": "Some solutions were not tried, because too many of your runs were waiting. Try again in a moment.",
	"texts":      "Published. The boards stay as they are.",

	"saved-closed":     "Saved. The deadline has passed: the task is closed, and everyone can read its sources.",
	"published-closed": "Published, but the deadline has passed: the task is closed, and everyone can read its sources.",
	"version-closed":   "Published as a new version with empty boards. The deadline has passed: the task is closed.",

	"published-checked":   "Published. The template is being tested below. When it has compiled, the reference compiles, too.",
	"published-unchecked": "Published, but not verified: no worker could test the template, so the reference may not compile.",
	"version-checked":     "Published as a new version with empty boards. The template is being tested below. When it has compiled, the reference compiles, too.",
	"version-unchecked":   "Published as a new version with empty boards. It is not verified: no worker could test the template, so the reference may not compile.",

	"revealed":     "All results are revealed.",
	"event-gone":   "Deleted. Its tasks stay, with their boards and submissions.",
	"left":         "You left the board. Your submissions and entries stay.",
	"deleted":      "Deleted, with the task's boards and submissions.",
	"cancelled":    "Cancelled.",
	"queued":       "Queued. Submissions run first.",
	"applied":      "Applied. The boards show the new scores.",
	"removed":      "Deleted, with the submission's runs.",
	"reported":     "Reported. The task's author and the admins see it.",
	"dismissed":    "The flags are closed.",
	"disqualified": "Disqualified. The board shows the next best run of this person.",
	"reinstated":   "Reinstated. The run counts again.",
	"revoked":      "Revoked. The worker is disconnected.",

	"confirm-mail": "Saved. Open the link that was sent to the new address.",
	"comment-gone": "Deleted.",

	"joined":      "You joined this task. You'll find it under Tasks.",
	"code-gone":   "Revoked. People who joined with the code stay members.",
	"member-gone": "Removed. The person can no longer see the task. Their entries stay.",

	"linked":   "Added. You can now sign in with that account.",
	"unlinked": "Removed. You can no longer sign in with that account, and you are signed out everywhere else.",
}

// Page returns the data that all pages need. section is the highlighted link in the header.
func (s *Site) Page(c *fiber.Ctx, title, section string) views.Page {
	p := views.Page{
		Title: title, HeaderSection: section, CSRF: s.csrfToken(c), Nonce: cspNonce(c),
		PathAfterSignIn: c.OriginalURL(),
		Notice:          noticeTexts[c.Query("done")], SandboxOff: s.Settings.SandboxOff, Version: s.Settings.Version,
	}
	if theme := c.Cookies("theme"); theme == "light" || theme == "dark" {
		p.Theme = theme
	}
	if e, ok := s.Store.Events.AnnouncedEvent(); ok {
		now := s.Store.Events.Now()
		p.EventBanner = &views.EventBanner{Slug: e.Slug, Title: e.Title, HasBegun: e.HasBegun(now),
			NextChangeAt: e.StartsAt}
		if p.EventBanner.HasBegun {
			p.EventBanner.NextChangeAt = e.EndsAt
		}
		p.EventBanner.TimeToNext = p.EventBanner.NextChangeAt.Sub(now)
	}
	if user := Viewer(c); user != nil {
		p.Viewer = &views.Viewer{
			Person:         PersonLink(user.ID, user.Name),
			MayCreateTasks: user.MayCreateTasks(),
			IsAdmin:        user.IsAdmin(),
			UnreadNotices:  user.UnreadNotices,
		}
	} else { // only visitors get preview data, because other sites request pages without a session
		p.LinkPreview = &views.LinkPreview{Title: title, URL: s.Settings.BaseURL + c.Path(),
			ImageURL: s.PreviewImageURL()}
	}
	return p
}

// PreviewImageURL returns the URL of the image that other sites show beside links to this site.
func (s *Site) PreviewImageURL() string { return s.Settings.BaseURL + "/card.png" }

// LinkPreview returns the preview data of a page for links on other sites. The page must have a feed at path + "/feed".
func (s *Site) LinkPreview(title, about, path string) *views.LinkPreview {
	return &views.LinkPreview{
		Title:       title,
		Description: about,
		URL:         s.Settings.BaseURL + path,
		ImageURL:    s.PreviewImageURL(),
		FeedURL:     path + "/records.atom",
	}
}

// PersonLink returns the data for a link to a person's page.
func PersonLink(id int64, name string) views.Person { return views.Person{ID: id, Name: name} }

// TaskLink returns the data for a link to a task's page.
func TaskLink(t catalog.Task) views.TaskRef { return views.TaskRef{Slug: t.Slug, Title: t.Title} }

// DeadlineOf returns a task's deadline and the current time, from which pages compute the remaining time.
func (s *Site) DeadlineOf(t catalog.Task) views.Deadline {
	d := views.Deadline{RenderedAt: s.Now(), AllowsPractice: t.AllowsPractice}
	if t.Deadline != nil {
		d.Time = *t.Deadline
	}
	return d
}

// errorPage renders the page for a failed request.
func (s *Site) errorPage(c *fiber.Ctx, status int, sentence, requestID string) templ.Component {
	p := views.ErrorPage{Page: s.Page(c, "Error", ""), Status: status, Sentence: sentence, RequestID: requestID}
	p.Title = p.Heading()
	if c.Method() != fiber.MethodGet {
		p.Sent = true
		p.PathAfterSignIn = "/" // after signing in, a browser cannot open a path that only accepts forms
	}
	return views.Error(p)
}

// RedirectTo returns a handler that redirects to another path with the same slug.
func RedirectTo(path string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return c.Redirect(strings.ReplaceAll(path, ":slug", url.PathEscape(c.Params("slug"))), fiber.StatusSeeOther)
	}
}

// Redirect responds to a form with a redirect (303).
func Redirect(c *fiber.Ctx, url templ.SafeURL) error {
	return c.Redirect(string(url), fiber.StatusSeeOther)
}
