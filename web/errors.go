package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/tasks"
	"warpboard/web/client"
)

// failure is an error with an answer: the sentence goes to the person, the code to programs.
type failure struct {
	status     int
	code       string // stable: clients compare it
	message    string
	retryAfter time.Duration
}

func (f *failure) Error() string { return f.message }

func invalid(code, format string, args ...any) error {
	return &failure{status: fiber.StatusUnprocessableEntity, code: code, message: fmt.Sprintf(format, args...)}
}

func forbidden(code, message string) error {
	return &failure{status: fiber.StatusForbidden, code: code, message: message}
}

func unauthorized(message string) error {
	return &failure{status: fiber.StatusUnauthorized, code: "unauthorized", message: message}
}

func tooMany(message string, wait time.Duration) error {
	return &failure{status: fiber.StatusTooManyRequests, code: "too_many", message: message, retryAfter: wait}
}

// retrySoon is when to ask again what failed by our fault and may work in a moment.
const retrySoon = 5 * time.Second

func busy(message string) *failure {
	return &failure{status: fiber.StatusServiceUnavailable, code: "busy", message: message, retryAfter: retrySoon}
}

func notFound(*fiber.Ctx) error {
	return &failure{status: fiber.StatusNotFound, code: "not_found", message: "There is nothing at this address."}
}

// kinds maps the domain's errors to answers.
var kinds = map[models.Kind]failure{
	models.NotFound:  {status: fiber.StatusNotFound, code: "not_found"},
	models.Invalid:   {status: fiber.StatusUnprocessableEntity, code: "invalid"},
	models.Conflict:  {status: fiber.StatusConflict, code: "conflict"},
	models.Forbidden: {status: fiber.StatusForbidden, code: "forbidden"},
	models.TooMany:   {status: fiber.StatusTooManyRequests, code: "too_many", retryAfter: time.Minute},
}

// codes names the answers that fiber itself gives.
var codes = map[int]failure{
	fiber.StatusNotFound:                    {code: "not_found", message: "There is nothing at this address."},
	fiber.StatusMethodNotAllowed:            {code: "method_not_allowed", message: "This address does not take such a request."},
	fiber.StatusRequestEntityTooLarge:       {code: "too_large", message: "What was sent is larger than allowed."},
	fiber.StatusRequestTimeout:              {code: "timeout", message: "The request took too long to arrive."},
	fiber.StatusBadRequest:                  {code: "bad_request", message: "The request could not be understood."},
	fiber.StatusBadGateway:                  {code: "bad_request", message: "The request broke off.", status: fiber.StatusBadRequest},
	fiber.StatusRequestHeaderFieldsTooLarge: {code: "bad_request", message: "The head of the request is larger than 16 KB.", status: fiber.StatusBadRequest},
}

// failureOf finds the answer to an error. What is nobody's fault but ours says nothing of its inside.
func failureOf(err error) failure {
	var f *failure
	if errors.As(err, &f) {
		return *f
	}
	var m *models.Error
	if errors.As(err, &m) {
		if f, ok := kinds[m.Kind]; ok {
			f.message = m.Message
			f.retryAfter = cmp.Or(m.RetryAfter, f.retryAfter)
			return f
		}
	}
	if len(tasks.ProblemsIn(err)) > 0 {
		return failure{status: fiber.StatusUnprocessableEntity, code: "invalid", message: err.Error()}
	}
	var fe *fiber.Error
	if errors.As(err, &fe) {
		if f, ok := codes[fe.Code]; ok {
			f.status = cmp.Or(f.status, fe.Code)
			return f
		}
	}
	if models.KindOf(err) == models.Unavailable {
		return failure{status: fiber.StatusServiceUnavailable, code: "unavailable", retryAfter: retrySoon,
			message: "The site cannot reach its data just now, or has no room for more. Try again in a moment."}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return *busy("The site is too busy to answer just now. Try again in a moment.")
	}
	return failure{status: fiber.StatusInternalServerError, code: "internal",
		message: "Something went wrong on our side; it has been logged."}
}

// answerProblems marks requests whose errors are told as problems of the API.
func answerProblems(c *fiber.Ctx) error {
	c.Locals(localProblems, true)
	return c.Next()
}

// wantsProblem reports whether an error is told as a problem: on the API, and to a client that asks for JSON
// and not for HTML.
func wantsProblem(c *fiber.Ctx) bool {
	accept := c.Get(fiber.HeaderAccept)
	return c.Locals(localProblems) != nil || strings.Contains(accept, "json") && !strings.Contains(accept, "html")
}

// handleError is the one place where an error becomes an answer.
func (s *Site) handleError(c *fiber.Ctx, err error) error {
	f := failureOf(err)
	id, _ := c.Locals(localRequestID).(string)
	if f.status >= 500 {
		s.Log.Error("request failed", "id", id, "method", c.Method(), "path", c.Path(), "error", err)
	}
	c.Response().ResetBody()
	c.Set(fiber.HeaderCacheControl, "no-store")
	if f.retryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(f.retryAfter.Seconds())))
	}
	if f.status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	}
	if wantsProblem(c) {
		return c.Status(f.status).JSON(client.Problem{Type: "about:blank", Title: http.StatusText(f.status), Status: f.status,
			Code: f.code, Detail: f.message, RequestID: id}, "application/problem+json")
	}
	c.SetUserContext(context.WithoutCancel(c.UserContext())) // a request that failed may be over; its page is shown all the same
	if err := s.render(c, f.status, s.errorPage(c, f.status, f.message, id)); err != nil {
		s.Log.Error("error page failed", "id", id, "error", err)
		return c.Status(f.status).SendString(f.message)
	}
	return nil
}
