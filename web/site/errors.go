package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/db"
	"warpboard/tasks/parse"
	"warpboard/views"
)

// Failure is an error with an HTTP response: Message is for people, Code for programs.
type Failure struct {
	Status     int
	Code       string // stable, because clients compare it
	Message    string
	RetryAfter time.Duration
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Invalid returns an error for invalid content of a request.
func Invalid(code, format string, args ...any) error {
	return &Failure{Status: fiber.StatusUnprocessableEntity, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Forbidden returns an error for an identified sender without the right.
func Forbidden(code, message string) error {
	return &Failure{Status: fiber.StatusForbidden, Code: code, Message: message}
}

// Unauthorized returns an error that asks the sender to sign in or to send a token.
func Unauthorized(message string) error {
	return &Failure{Status: fiber.StatusUnauthorized, Code: "unauthorized", Message: message}
}

// TooMany returns an error for a sender who exceeded a limit.
func TooMany(message string, wait time.Duration) error {
	return &Failure{Status: fiber.StatusTooManyRequests, Code: "too_many", Message: message, RetryAfter: wait}
}

// TemporaryRetryAfter is the Retry-After time of temporary errors of the site.
const TemporaryRetryAfter = 5 * time.Second

// BusyError returns an error for all senders while the site has no capacity.
func BusyError(message string) *Failure {
	return &Failure{Status: fiber.StatusServiceUnavailable, Code: "busy", Message: message,
		RetryAfter: TemporaryRetryAfter}
}

// NotFound handles requests for paths that do not exist.
func NotFound(*fiber.Ctx) error {
	return &Failure{Status: fiber.StatusNotFound, Code: "not_found", Message: "There is nothing at this address."}
}

// failuresByErrorKind maps the kinds of errors of package db to responses.
var failuresByErrorKind = map[db.ErrorKind]Failure{
	db.NotFound:  {Status: fiber.StatusNotFound, Code: "not_found"},
	db.Invalid:   {Status: fiber.StatusUnprocessableEntity, Code: "invalid"},
	db.Conflict:  {Status: fiber.StatusConflict, Code: "conflict"},
	db.Forbidden: {Status: fiber.StatusForbidden, Code: "forbidden"},
	db.TooMany:   {Status: fiber.StatusTooManyRequests, Code: "too_many", RetryAfter: time.Minute},
}

// failuresByStatus maps the status codes of fiber's own errors to responses.
var failuresByStatus = map[int]Failure{
	fiber.StatusNotFound:                    {Code: "not_found", Message: "There is nothing at this address."},
	fiber.StatusMethodNotAllowed:            {Code: "method_not_allowed", Message: "This address does not accept this kind of request."},
	fiber.StatusRequestEntityTooLarge:       {Code: "too_large", Message: "The request is larger than allowed."},
	fiber.StatusRequestTimeout:              {Code: "timeout", Message: "The request took too long to arrive."},
	fiber.StatusBadRequest:                  {Code: "bad_request", Message: "The request could not be understood."},
	fiber.StatusBadGateway:                  {Code: "bad_request", Message: "The request was cut off.", Status: fiber.StatusBadRequest},
	fiber.StatusRequestHeaderFieldsTooLarge: {Code: "bad_request", Message: "The request's headers are larger than 16 KB.", Status: fiber.StatusBadRequest},
}

// FailureFromError converts an error to a response. It hides the cause of an internal error.
func FailureFromError(err error) Failure {
	var f *Failure
	if errors.As(err, &f) {
		return *f
	}
	var m *db.Error
	if errors.As(err, &m) {
		if f, ok := failuresByErrorKind[m.Kind]; ok {
			f.Message = m.Message
			f.RetryAfter = cmp.Or(m.RetryAfter, f.RetryAfter)
			return f
		}
	}
	if len(parse.ProblemsFromError(err)) > 0 {
		return Failure{Status: fiber.StatusUnprocessableEntity, Code: "invalid", Message: err.Error()}
	}
	var fe *fiber.Error
	if errors.As(err, &fe) {
		if f, ok := failuresByStatus[fe.Code]; ok {
			f.Status = cmp.Or(f.Status, fe.Code)
			return f
		}
	}
	if db.KindOf(err) == db.Unavailable {
		return Failure{Status: fiber.StatusServiceUnavailable, Code: "unavailable", RetryAfter: TemporaryRetryAfter,
			Message: "The database cannot be reached, or is full. Try again in a moment."}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return *BusyError("The site is too busy to answer just now. Try again in a moment.")
	}
	return Failure{Status: fiber.StatusInternalServerError, Code: "internal",
		Message: "Something went wrong on our side; it has been logged."}
}

// UseProblemDocuments makes the errors of a request problem documents (RFC 9457), as in the API.
func UseProblemDocuments(c *fiber.Ctx) error {
	c.Locals(problemDocumentsKey, true)
	return c.Next()
}

// wantsProblemDocument reports whether the error of a request becomes a problem document: on paths of the API, on paths
// that end in .json, and for clients that do not accept HTML.
func wantsProblemDocument(c *fiber.Ctx) bool {
	kind, accept := path.Ext(c.Path()), c.Get(fiber.HeaderAccept)
	switch {
	case c.Locals(problemDocumentsKey) != nil || kind == ".json":
		return true
	case strings.Contains(accept, "html"):
		return false
	}
	return kind != "" || strings.Contains(accept, "json")
}

// errorFragment renders an error for a part of a page. If the part reloads itself, the error replaces it. Otherwise the
// part keeps its content, because an error in its place would stay forever, and the page's script shows the reason.
func (s *Site) errorFragment(c *fiber.Ctx, f Failure, requestID string) templ.Component {
	if !WantsFragment(c) {
		return s.errorPage(c, f.Status, f.Message, requestID)
	}
	if c.Method() == fiber.MethodGet {
		c.Set("HX-Reswap", "none")
	}
	return views.Refused(f.Message)
}

// HandleError converts an error to a response.
func (s *Site) HandleError(c *fiber.Ctx, err error) error {
	f := FailureFromError(err)
	id, _ := c.Locals(LocalRequestID).(string)
	if f.Status >= 500 {
		s.Log.Error("request failed", "id", id, "method", c.Method(), "path", LoggedPath(c), "err", err)
	}
	c.Response().ResetBody()
	c.Set(fiber.HeaderCacheControl, "no-store")
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	}
	if wantsProblemDocument(c) {
		return c.Status(f.Status).JSON(client.Problem{Type: "about:blank", Title: http.StatusText(f.Status), Status: f.Status,
			Code: f.Code, Detail: f.Message, RequestID: id}, "application/problem+json")
	}
	// The context of a failed request may have ended; its error page needs one that has not.
	c.SetUserContext(context.WithoutCancel(c.UserContext()))
	if err := s.Render(c, f.Status, s.errorFragment(c, f, id)); err != nil {
		s.Log.Error("error page failed", "id", id, "err", err)
		return c.Status(f.Status).SendString(f.Message)
	}
	return nil
}
