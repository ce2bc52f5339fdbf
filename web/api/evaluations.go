package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/views/format"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

const (
	evaluationPageSize = 50 // evaluations on one page of the list
	// longest wait for an evaluation's end; shorter than the 60 s after which proxies give up
	maxEvaluationWait = 50 * time.Second
)

// CreateEvaluation queues a kernel, or two to be compared, and does not wait.
func (a *API) CreateEvaluation(c *fiber.Ctx) error {
	if err := a.evaluations.RequireCaller(c); err != nil {
		return err
	}
	request, err := a.evaluations.ReadRequest(c, "")
	if err != nil {
		return respondFieldProblems(c, err)
	}
	caller, err := a.evaluations.NewCaller(c)
	if err != nil {
		return err
	}
	made, err := a.evaluations.Submit(c.UserContext(), caller, request, c.Get(client.IdempotencyHeader))
	if err != nil {
		return respondFieldProblems(c, err)
	}
	answer, err := a.evaluationAnswer(c.UserContext(), made, evaluations.PodIP(c))
	if err != nil {
		return err
	}
	answer.EvaluationKey = caller.Key
	c.Location(answer.URL)
	return c.Status(fiber.StatusAccepted).JSON(answer)
}

// Compile compiles a source. It responds when the compilation has ended, or after maxEvaluationWait with the address of
// the result.
func (a *API) Compile(c *fiber.Ctx) error {
	if err := a.evaluations.RequireCaller(c); err != nil {
		return err
	}
	request, err := a.evaluations.ReadRequest(c, kernelrun.KindCompile)
	if err != nil {
		return respondFieldProblems(c, err)
	}
	caller, err := a.evaluations.NewCaller(c)
	if err != nil {
		return err
	}
	over, err := a.site.TakeWaitPermit(c)
	if err != nil {
		return err
	}
	defer over()
	made, err := a.evaluations.Compile(c.UserContext(), caller, request, nil)
	if err != nil {
		return respondFieldProblems(c, err)
	}
	ended, err := a.awaitEnd(c, made, maxEvaluationWait)
	if err != nil {
		return err
	}
	answer, err := a.evaluationAnswer(c.UserContext(), ended, evaluations.PodIP(c))
	if err != nil {
		return err
	}
	answer.EvaluationKey = caller.Key
	c.Location(answer.URL)
	return c.JSON(answer)
}

// respondFieldProblems responds to an unreadable request with the list of wrong fields. It returns all other errors
// with a code of the API.
func respondFieldProblems(c *fiber.Ctx, err error) error {
	if !errors.As(err, new(evaluations.FieldErrors)) {
		return evaluations.WithErrorCode(err)
	}
	p := newProblem(err)
	p.RequestID, _ = c.Locals(site.LocalRequestID).(string)
	return c.Status(p.Status).JSON(p, "application/problem+json")
}

// newProblem converts an error to a problem as the API describes it.
func newProblem(err error) client.Problem {
	var fields evaluations.FieldErrors
	if !errors.As(err, &fields) {
		f := site.FailureFromError(evaluations.WithErrorCode(err))
		return client.Problem{
			Type:   "about:blank",
			Title:  http.StatusText(f.Status),
			Status: f.Status,
			Code:   f.Code,
			Detail: f.Message,
		}
	}
	p := client.Problem{Type: "about:blank", Title: http.StatusText(fiber.StatusUnprocessableEntity), Status: fiber.StatusUnprocessableEntity,
		Code: "invalid", Detail: fmt.Sprintf("%s of the request: %s", format.Plural(len(fields), "mistake", "mistakes"), fields)}
	for _, field := range fields {
		p.Errors = append(p.Errors, client.FieldError(field))
	}
	return p
}

// GetEvaluation responds with one evaluation. With ?wait=SECONDS it waits for the end of the evaluation, at most that
// long.
func (a *API) GetEvaluation(c *fiber.Ctx) error {
	found, caller, err := a.evaluations.ReadableEvaluation(c, c.Params("id"))
	if wait := c.QueryInt("wait"); err == nil && wait > 0 && !found.State.IsFinal() {
		found, err = a.waitForEnd(c, found, min(time.Duration(wait)*time.Second, maxEvaluationWait))
	}
	if err == nil && !caller.MayRead(found) { // the owner has stopped sharing the evaluation
		err = evaluations.NotFoundError(found.ID)
	}
	if err != nil {
		return err
	}
	return a.answerEvaluation(c, found)
}

func (a *API) answerEvaluation(c *fiber.Ctx, found work.Evaluation) error {
	answer, err := a.evaluationAnswer(c.UserContext(), found, evaluations.PodIP(c))
	if err != nil {
		return err
	}
	if !found.IsLarge() {
		answer.Request = found.Request
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

// waitForEnd returns the evaluation once it has ended, or its current state after wait, when the caller leaves, or at
// once if too many requests wait.
func (a *API) waitForEnd(c *fiber.Ctx, found work.Evaluation, wait time.Duration) (work.Evaluation, error) {
	end, ok := a.site.TryTakeWaitPermit(c)
	if !ok {
		return found, nil
	}
	defer end()
	return a.awaitEnd(c, found, wait)
}

// awaitEnd waits like waitForEnd, but does not check the limit of waiting requests: the caller has a permit.
func (a *API) awaitEnd(c *fiber.Ctx, found work.Evaluation, wait time.Duration) (work.Evaluation, error) {
	ctx, cancel := context.WithTimeout(a.site.StreamContext, wait)
	defer cancel()
	defer site.OnDisconnect(c, cancel)()
	c.SetUserContext(a.site.RequestContext) // the request's own context may end before the wait does
	last, err := a.evaluations.Await(ctx, found.ID, func(e work.Evaluation) bool { return e.State.IsFinal() })
	if ctx.Err() == nil {
		return last, err
	}
	return a.site.Store.Work.ReadableEvaluation(a.site.RequestContext, found.ID)
}

// ListEvaluations responds with the sender's own evaluations; a sender without token or key has none.
func (a *API) ListEvaluations(c *fiber.Ctx) error {
	if err := a.evaluations.RequireCaller(c); err != nil {
		return err
	}
	caller, err := a.evaluations.Caller(c)
	if err != nil {
		return err
	}
	page := site.PageNumber(c, "page")
	found, err := a.site.Store.Work.Evaluations(c.UserContext(), caller.Requester, (page-1)*evaluationPageSize,
		evaluationPageSize)
	if err != nil {
		return err
	}
	list := make([]client.Evaluation, len(found))
	for i, one := range found {
		list[i] = a.evaluationSummary(one)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"evaluations": list, "page": page})
}

// CancelEvaluation cancels an evaluation.
func (a *API) CancelEvaluation(c *fiber.Ctx) error {
	found, err := a.evaluations.ChangeableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	if err := a.site.Dispatcher.CancelEvaluation(c.UserContext(), found.ID, "It was cancelled."); err != nil {
		return err
	}
	return a.GetEvaluation(c)
}

// ChangeEvaluation reads {"shared": true} or {"shared": false}. Anyone who has the ID of a shared evaluation can read
// it.
func (a *API) ChangeEvaluation(c *fiber.Ctx) error {
	var in client.EvaluationChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if in.Shared == nil {
		return site.Invalid("shared", `Send {"shared": true} or {"shared": false}.`)
	}
	found, err := a.evaluations.ChangeableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	found, err = a.evaluations.SetShared(c.UserContext(), found.ID, *in.Shared)
	if err != nil {
		return err
	}
	return a.answerEvaluation(c, found)
}

// evaluationSummary converts an evaluation without its result.
func (a *API) evaluationSummary(e work.Evaluation) client.Evaluation {
	url := a.site.Settings.BaseURL + "/api/v1/evaluations/" + e.ID
	return client.Evaluation{
		ID: e.ID, URL: url, Events: url + "/events", Kind: e.Kind, State: string(e.State), Ended: e.State.IsFinal(),
		Device: e.Device, Worker: e.Worker, CreatedAt: e.QueuedAt, TakenAt: e.StartedAt, EndedAt: e.EndedAt,
		Failure: e.FailureReason, Source: e.SourceHash, Shared: e.ReadableByAnyone, Batch: e.BatchID, ReusedResultOf: e.SharesResultOf,
	}
}

// evaluationAnswer converts an evaluation with its result, if it has one.
func (a *API) evaluationAnswer(ctx context.Context, e work.Evaluation, podIP string) (client.Evaluation, error) {
	answer := a.evaluationSummary(e)
	if e.Result == nil {
		var err error
		answer.WaitsFor, err = a.evaluations.MissingWorkerText(ctx, e)
		return answer, err
	}
	kernel, err := a.evaluations.KernelOfEvaluation(ctx, e)
	if err != nil {
		return answer, err
	}
	result, err := evaluations.NewAnswer(e, kernel, podIP)
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

// EvaluationEvents streams the whole evaluation after every change, until the evaluation has ended.
func (a *API) EvaluationEvents(c *fiber.Ctx) error {
	found, caller, err := a.evaluations.ReadableEvaluation(c, c.Params("id"))
	if err != nil {
		return err
	}
	f := &evaluationFollower{api: a, id: found.ID, requester: caller.Requester, lastChangeNumber: conns.LastEventID(c),
		podIP: evaluations.PodIP(c)}
	return a.site.Stream(c, conns.StreamSource{
		Topic:        site.EvaluationTopic(found.ID),
		WriteBacklog: f.sendChange,
		WriteMessage: func(ctx context.Context, _ conns.Message,
			out *conns.Writer) error {
			return f.sendChange(ctx, out)
		},
	})
}

// evaluationFollower sends an evaluation's changes to one reader; it skips changes that follow too quickly.
type evaluationFollower struct {
	api              *API
	id               string
	requester        work.Requester
	lastChangeNumber int64 // number of the newest change that the reader has
	podIP            string
}

// sendChange writes the evaluation if it has changed since the last time.
func (f *evaluationFollower) sendChange(ctx context.Context, out *conns.Writer) error {
	e, err := f.api.site.Store.Work.ReadableEvaluation(ctx, f.id)
	if err != nil {
		return err
	}
	if !f.requester.MayRead(e) { // the owner has stopped sharing the evaluation
		return conns.ErrStreamComplete
	}
	if e.ChangeNumber > f.lastChangeNumber {
		f.lastChangeNumber = e.ChangeNumber
		answer, err := f.api.evaluationAnswer(ctx, e, f.podIP)
		if err != nil {
			return err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("write evaluation %s: %w", e.ID, err)
		}
		if _, err := out.Write(conns.FormatEvent(e.ChangeNumber, "", text)); err != nil {
			return err
		}
	}
	if !e.State.IsFinal() {
		return nil
	}
	if _, err := out.Write(conns.FormatEvent(0, "end", nil)); err != nil {
		return err
	}
	return conns.ErrStreamComplete
}
