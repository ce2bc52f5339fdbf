package evalapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// API is the unversioned evaluation API, with the same requests and answers as the CUDA Evaluation Server V2. Its
// answers may get additional fields, but no other changes.
type API struct {
	site        *site.Site
	evaluations *evaluations.Evaluations
}

// New returns the unversioned API.
func New(site *site.Site, evals *evaluations.Evaluations) *API {
	return &API{site: site, evaluations: evals}
}

// MethodsByPath returns the paths that only this API has, with the method of each. The API also accepts POST at two
// paths of pages, / and /compare.
func MethodsByPath() map[string]string {
	return map[string]string{"/evaluate": fiber.MethodPost, "/job/:id": fiber.MethodGet, "/health": fiber.MethodGet,
		"/stats": fiber.MethodGet, "/admin/cleanup-jobs": fiber.MethodPost}
}

// AllowOnlyMethod returns a handler that responds 405 with the allowed method, in FastAPI's format.
func AllowOnlyMethod(method string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderAllow, method)
		return c.Status(fiber.StatusMethodNotAllowed).JSON(fiber.Map{"detail": "Method Not Allowed"})
	}
}

// forbidCaching forbids caching of the response.
func forbidCaching(c *fiber.Ctx) {
	c.Set(fiber.HeaderCacheControl, "no-cache, no-store, must-revalidate")
	c.Set(fiber.HeaderPragma, "no-cache")
	c.Set(fiber.HeaderExpires, "0")
}

// ConvertErrors converts errors to the format of this API.
func (a *API) ConvertErrors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	forbidCaching(c)
	f := site.FailureFromError(err)
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, fmt.Sprint(int(f.RetryAfter.Seconds())))
	}
	switch {
	case f.Status == fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	case f.Status >= fiber.StatusInternalServerError:
		a.site.Log.Error("evaluation request failed", "id", c.Locals(site.LocalRequestID), "path", site.LoggedPath(c), "err", err)
		return a.respondFailure(c, f.Status, f.Message)
	}
	return c.Status(f.Status).JSON(fiber.Map{"error": strings.TrimSuffix(f.Message, "."), "status": "client_error"})
}

// bodyDetail is FastAPI's error format for a body that is not a JSON object.
type bodyDetail struct {
	Type  string         `json:"type"`
	Loc   []any          `json:"loc"`
	Msg   string         `json:"msg"`
	Input any            `json:"input"`
	Ctx   map[string]any `json:"ctx,omitempty"`
}

// respondRequestError responds to an unreadable request in the format of the unversioned API. It returns all other
// errors.
func respondRequestError(c *fiber.Ctx, err error) error {
	var body *evaluations.BodyError
	var fields evaluations.FieldErrors
	var refusal *kernelrun.Refusal
	switch {
	case errors.As(err, &body):
		return c.Status(fiber.StatusUnprocessableEntity).JSON(fiber.Map{"detail": []bodyDetail{bodyDetail(*body)}})
	case errors.As(err, &fields):
		forbidCaching(c)
		return c.Status(fiber.StatusBadRequest).JSON(fiber.Map{
			"error": "Invalid request format", "validation_errors": fields, "status": "client_error"})
	case errors.As(err, &refusal):
		forbidCaching(c)
		return c.Status(fiber.StatusBadRequest).JSON(fiber.Map{
			"error": refusal.Message, "details": refusal.Details, "status": "client_error"})
	}
	return err
}

// respondFailure responds with an error instead of a result.
func (a *API) respondFailure(c *fiber.Ctx, status int, message string) error {
	forbidCaching(c)
	return c.Status(status).JSON(failureBody(work.Evaluation{}, message, evaluations.PodIP(c)))
}

// failureBody returns the response for an evaluation without a result; e may be the zero Evaluation. Apart from the
// original API's fields it contains the evaluation's last state.
func failureBody(e work.Evaluation, message, podIP string) fiber.Map {
	r, _ := evaluations.DecodeResult(e) // an unreadable result counts as none
	body := fiber.Map{
		"kernel_exec_result": fiber.Map{}, "ref_runtime": fiber.Map{}, "pod_name": evaluations.PodName(r), "pod_ip": podIP,
		"status": "error", "error": message, "compilation_method": "cupy",
	}
	if e.ID != "" {
		body["job_id"] = e.ID
	}
	if e.State.IsFinal() {
		body["state"] = e.State
	}
	if e.Result != nil {
		body["partial_result"] = r.Report
	}
	return body
}
