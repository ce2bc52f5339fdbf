package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models"
	"warpboard/views/format"
	"warpboard/web/client"
)

const (
	evaluationPage = 50               // evaluations on one page of the list
	longestWait    = 50 * time.Second // of a request that waits for an evaluation's end; proxies give up after 60
)

// evaluations is the versioned evaluation API: submit without waiting, then look, follow or cancel.
type evaluations struct{ *Server }

func (s *Server) evaluationRoutes(api fiber.Router) {
	e := evaluations{s}
	api.Post("/evaluations", e.create)
	api.Get("/evaluations", e.list)
	api.Get("/evaluations/:id", e.get)
	api.Patch("/evaluations/:id", e.share)
	api.Post("/evaluations/:id/cancel", e.cancel)
	api.Get("/evaluations/:id/events", e.events)
	api.Get("/openapi.json", s.openAPI)
}

// needCaller lets through who is signed in, and where the operator opened the API everybody.
func (s *Server) needCaller(c *fiber.Ctx) error {
	if viewer(c) != nil || s.evalOpen(c) {
		return nil
	}
	return unauthorized("This needs a token: make one on your page and send it as Authorization: Bearer TOKEN.")
}

func (e evaluations) create(c *fiber.Ctx) error {
	if err := e.needCaller(c); err != nil {
		return err
	}
	request, err := e.readEvaluation(c, "")
	if err != nil {
		return problemOf(c, err)
	}
	caller, err := e.newCaller(c)
	if err != nil {
		return err
	}
	made, err := e.submitEvaluation(c.UserContext(), caller, request)
	if err != nil {
		return problemOf(c, err)
	}
	answer, err := e.evaluationAnswer(made, podIP(c))
	if err != nil {
		return err
	}
	answer.Key = caller.key
	c.Location(answer.URL)
	return c.Status(fiber.StatusAccepted).JSON(answer)
}

// problemOf answers a request that could not be read, with every field that is wrong.
func problemOf(c *fiber.Ctx, err error) error {
	var body *badBody
	var fields badFields
	var refusal *kernelrun.Refusal
	switch {
	case errors.As(err, &body):
		return invalid("body", "The request is not a JSON object: %s.", body.Msg)
	case errors.As(err, &refusal):
		return invalid("invalid", "%s.", refusal.Message)
	case !errors.As(err, &fields):
		return err
	}
	p := client.Problem{Type: "about:blank", Title: "Unprocessable Entity", Status: fiber.StatusUnprocessableEntity,
		Code: "invalid", Detail: fmt.Sprintf("%s of the request: %s", format.Plural(len(fields), "mistake", "mistakes"), fields)}
	p.RequestID, _ = c.Locals(localRequestID).(string)
	for _, field := range fields {
		p.Errors = append(p.Errors, client.FieldError(field))
	}
	return c.Status(p.Status).JSON(p, "application/problem+json")
}

// get answers with one evaluation. With ?wait=SECONDS the answer comes when it has ended, or else after that time.
func (e evaluations) get(c *fiber.Ctx) error {
	found, caller, err := e.readable(c, c.Params("id"))
	if wait := c.QueryInt("wait"); err == nil && wait > 0 && !found.State.Final() {
		found, err = e.waitAWhile(c, found, min(time.Duration(wait)*time.Second, longestWait))
	}
	if err == nil && !caller.MayRead(found) { // its owner shares it no more
		err = notReadable(found.ID)
	}
	if err != nil {
		return err
	}
	return e.answer(c, found)
}

func (e evaluations) answer(c *fiber.Ctx, found models.Evaluation) error {
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

// list answers with the sender's own evaluations; whoever shows nothing has none.
func (e evaluations) list(c *fiber.Ctx) error {
	if err := e.needCaller(c); err != nil {
		return err
	}
	caller, err := e.caller(c)
	if err != nil {
		return err
	}
	page := max(c.QueryInt("page", 1), 1)
	found, err := e.store.Evaluations(c.UserContext(), caller.Asker, (page-1)*evaluationPage, evaluationPage)
	if err != nil {
		return err
	}
	list := make([]client.Evaluation, len(found))
	for i, one := range found {
		list[i] = e.evaluationSummary(one)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"evaluations": list, "page": page})
}

// cancel ends an evaluation.
func (e evaluations) cancel(c *fiber.Ctx) error {
	found, err := e.changeable(c, c.Params("id"))
	if err != nil {
		return err
	}
	if err := e.cfg.Dispatcher.CancelEvaluation(c.UserContext(), found.ID, "It was cancelled."); err != nil {
		return err
	}
	return e.get(c)
}

// share takes {"shared": true}, which opens an evaluation to whoever knows its id, or false.
func (e evaluations) share(c *fiber.Ctx) error {
	var in client.EvaluationChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if in.Shared == nil {
		return invalid("shared", `Say {"shared": true} or {"shared": false}.`)
	}
	found, err := e.changeable(c, c.Params("id"))
	if err != nil {
		return err
	}
	found, err = e.shareEvaluation(c.UserContext(), found.ID, *in.Shared)
	if err != nil {
		return err
	}
	return e.answer(c, found)
}

// shareEvaluation opens or closes an evaluation; those who follow what was closed hear no more.
func (s *Server) shareEvaluation(ctx context.Context, id string, shared bool) (models.Evaluation, error) {
	e, err := s.store.ShareEvaluation(ctx, id, shared)
	if err == nil {
		s.hub.EvaluationChanged(e)
	}
	return e, err
}

// evaluationSummary is an evaluation without its result.
func (s *Server) evaluationSummary(e models.Evaluation) client.Evaluation {
	url := s.cfg.BaseURL + "/api/v1/evaluations/" + e.ID
	return client.Evaluation{
		ID: e.ID, URL: url, Events: url + "/events", Kind: e.Kind, State: string(e.State), Ended: e.State.Final(),
		Device: e.Device, Worker: e.Worker, Created: e.CreatedAt, Taken: e.TakenAt, Finish: e.EndedAt,
		Failure: e.Failure, Source: e.SourceHash, Shared: e.Shared,
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
