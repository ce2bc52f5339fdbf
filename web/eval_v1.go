package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	kernels "warpboard/evaluator/kernel"
	"warpboard/models"
	"warpboard/web/client"
)

const (
	evaluationPage = 50               // evaluations on one page of the list
	longestWait    = 60 * time.Second // of a request that waits for an evaluation's end
)

// evaluations is the versioned evaluation API: submit without waiting, then look, follow or cancel.
type evaluations struct{ *Server }

func (s *Server) evaluationRoutes(api fiber.Router) {
	e := evaluations{s}
	api.Post("/evaluations", e.create)
	api.Get("/evaluations", e.list)
	api.Get("/evaluations/:id", e.get)
	api.Post("/evaluations/:id/cancel", e.cancel)
	api.Get("/evaluations/:id/events", e.events)
	api.Get("/openapi.json", s.openAPI)
}

// evalPerson is who asks; the zero User where the API is open to everybody.
func (s *Server) evalPerson(c *fiber.Ctx) (models.User, error) {
	if user := viewer(c); user != nil {
		return *user, nil
	}
	if s.evalOpen(c) {
		return models.User{}, nil
	}
	return models.User{}, unauthorized("This needs a token: make one on your page and send it as Authorization: Bearer TOKEN.")
}

func (e evaluations) create(c *fiber.Ctx) error {
	user, err := e.evalPerson(c)
	if err != nil {
		return err
	}
	request, err := e.readEvaluation(c, "")
	if err != nil {
		return problemOf(c, err)
	}
	made, err := e.submitEvaluation(c.UserContext(), user, e.caller(c), request)
	if err != nil {
		return problemOf(c, err)
	}
	answer, err := e.evaluationAnswer(made, podIP(c))
	if err != nil {
		return err
	}
	c.Location(answer.URL)
	return c.Status(fiber.StatusAccepted).JSON(answer)
}

// problemOf answers a request that could not be read, with every field that is wrong.
func problemOf(c *fiber.Ctx, err error) error {
	var body *badBody
	var fields badFields
	var refusal *kernels.Refusal
	switch {
	case errors.As(err, &body):
		return invalid("body", "The request is not a JSON object: %s.", body.Msg)
	case errors.As(err, &refusal):
		return invalid("invalid", "%s.", refusal.Message)
	case !errors.As(err, &fields):
		return err
	}
	p := client.Problem{Type: "about:blank", Title: "Unprocessable Entity", Status: fiber.StatusUnprocessableEntity,
		Code: "invalid", Detail: fmt.Sprintf("%d fields of the request are wrong: %s.", len(fields), fields)}
	p.RequestID, _ = c.Locals(localRequestID).(string)
	return c.Status(p.Status).JSON(struct {
		client.Problem
		Errors badFields `json:"errors"`
	}{p, fields}, "application/problem+json")
}

// get answers with one evaluation; who knows its id may see it. With ?wait=SECONDS the answer comes when it
// has ended, or else after that time.
func (e evaluations) get(c *fiber.Ctx) error {
	found, err := e.store.Evaluation(c.UserContext(), c.Params("id"))
	if wait := c.QueryInt("wait"); err == nil && wait > 0 && !found.State.Final() {
		found, err = e.waitAWhile(c, found, min(time.Duration(wait)*time.Second, longestWait))
	}
	if err != nil {
		return err
	}
	answer, err := e.evaluationAnswer(found, podIP(c))
	if err != nil {
		return err
	}
	answer.Request = found.Request
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

// waitAWhile returns the evaluation once it has ended, or as it is when the time is over or the caller leaves.
func (e evaluations) waitAWhile(c *fiber.Ctx, found models.Evaluation, wait time.Duration) (models.Evaluation, error) {
	ctx, cancel := context.WithTimeout(e.streams, wait)
	defer cancel()
	defer onLeaving(c.Context().Conn(), cancel)()
	last, err := e.awaitEvaluation(ctx, found.ID, func(e models.Evaluation) bool { return e.State.Final() })
	if ctx.Err() == nil || last.State.Final() {
		return last, err
	}
	if last.ID == "" { // the time was over before it could be read again
		return found, nil
	}
	return last, nil
}

func (e evaluations) list(c *fiber.Ctx) error {
	user, err := e.evalPerson(c)
	if err != nil {
		return err
	}
	page := max(c.QueryInt("page", 1), 1)
	found, err := e.store.Evaluations(c.UserContext(), user.ID, (page-1)*evaluationPage, evaluationPage)
	if err != nil {
		return err
	}
	list := make([]client.Evaluation, len(found))
	for i, one := range found {
		list[i] = e.evaluationSummary(one)
	}
	return c.JSON(fiber.Map{"evaluations": list, "page": page})
}

// cancel ends an evaluation: its person may, and admins, and where the API is open everybody those of nobody.
func (e evaluations) cancel(c *fiber.Ctx) error {
	user, err := e.evalPerson(c)
	if err != nil {
		return err
	}
	found, err := e.store.Evaluation(c.UserContext(), c.Params("id"))
	if err != nil {
		return err
	}
	if found.UserID != user.ID && !user.IsAdmin() {
		return forbidden("forbidden", "Only the person who asked for this evaluation, and admins, may cancel it.")
	}
	if err := e.cfg.Dispatcher.CancelEvaluation(c.UserContext(), found.ID, "It was cancelled."); err != nil {
		return err
	}
	return e.get(c)
}

// evaluationSummary is an evaluation without its result.
func (s *Server) evaluationSummary(e models.Evaluation) client.Evaluation {
	url := s.cfg.BaseURL + "/api/v1/evaluations/" + e.ID
	return client.Evaluation{
		ID: e.ID, URL: url, Events: url + "/events", Kind: e.Kind, State: string(e.State), Ended: e.State.Final(),
		Device: e.Device, Worker: e.Worker, Created: e.CreatedAt, Taken: e.TakenAt, Finish: e.EndedAt,
		Failure: e.Failure, Source: e.SourceHash,
	}
}

// evaluationAnswer is an evaluation with its result, if it has one.
func (s *Server) evaluationAnswer(e models.Evaluation, podIP string) (client.Evaluation, error) {
	answer := s.evaluationSummary(e)
	if e.Result == nil {
		return answer, nil
	}
	result, err := newEvalAnswer(e, podIP)
	if err != nil {
		return answer, err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return answer, fmt.Errorf("write the result of evaluation %s: %w", e.ID, err)
	}
	answer.Result = (*json.RawMessage)(&text)
	return answer, nil
}
