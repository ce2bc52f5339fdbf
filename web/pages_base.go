package web

import (
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"unicode"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

// notices are what a page says after a change, by the name in ?done=.
var notices = map[string]string{
	"saved":     "Saved.",
	"published": "Published.",
	"texts":     "Published. The boards stay as they are.",
	"version":   "Published as a new version; its boards begin empty.",
	"deleted":   "The task is gone, with its boards and submissions.",
	"cancelled": "Cancelled.",
	"revoked":   "Revoked. The worker is disconnected.",
	"linked":    "Added. You can sign in with that account from now on.",
	"unlinked":  "Removed. That account does not open this one any more, and you are signed out everywhere but here.",
}

// page is what every page has; section names its link in the head.
func (s *Site) page(c *fiber.Ctx, title, section string) views.Page {
	p := views.Page{
		Title: title, Section: section, CSRF: s.csrfToken(c), Nonce: nonce(c), Next: c.OriginalURL(),
		Notice: notices[c.Query("done")], SandboxOff: s.SandboxOff, Version: s.Version,
	}
	if theme := c.Cookies("theme"); theme == "light" || theme == "dark" {
		p.Theme = theme
	}
	if user := viewer(c); user != nil {
		p.Viewer = &views.Viewer{Person: personOf(user.ID, user.Name), Creator: user.MayCreate(), Admin: user.IsAdmin()}
	}
	return p
}

func personOf(id int64, name string) views.Person { return views.Person{ID: id, Name: name} }

func taskRef(t models.Task) views.TaskRef { return views.TaskRef{Slug: t.Slug, Title: t.Title} }

func (s *Site) deadlineOf(t models.Task) views.Deadline {
	d := views.Deadline{Now: s.Now()}
	if t.Deadline != nil {
		d.Time = *t.Deadline
	}
	return d
}

// errorPage is what a person sees when a request failed.
func (s *Site) errorPage(c *fiber.Ctx, status int, sentence, requestID string) templ.Component {
	p := views.ErrorPage{Page: s.page(c, "Error", ""), Status: status, Sentence: sentence, RequestID: requestID}
	p.Title = p.Heading()
	if c.Method() != fiber.MethodGet {
		p.Next = "/" // an address that only takes forms is nothing to come back to
	}
	return views.Error(p)
}

// redirect answers a form with the page to look at next.
func redirect(c *fiber.Ctx, url templ.SafeURL) error {
	return c.Redirect(string(url), fiber.StatusSeeOther)
}

// attachment answers with a file to be kept, which no browser shows as a page of this site. Its name may be
// older than the rule for names: a line break would name another file, or end the header.
func attachment(c *fiber.Ctx, name string, data []byte) error {
	c.Attachment(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, name))
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.Send(data)
}

// readUpload reads an uploaded file, at most one byte more than limit: whoever gets that byte can refuse it.
func readUpload(header *multipart.FileHeader, limit int64) ([]byte, error) {
	file, err := header.Open()
	if err != nil {
		return nil, fmt.Errorf("open the upload %s: %w", header.Filename, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the upload %s: %w", header.Filename, err)
	}
	return data, nil
}
