package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/stream"
	"warpboard/web/wire"
)

// EvaluationEvents streams every change of an evaluation, the whole of it each time, until it has ended.
func (a *API) EvaluationEvents(c *fiber.Ctx) error {
	found, caller, err := a.evals.Readable(c, c.Params("id"))
	if err != nil {
		return err
	}
	f := &evalFollower{API: a, id: found.ID, asker: caller.Asker, last: stream.LastSeen(c), podIP: evaluations.PodIP(c)}
	return a.Stream(c, stream.Source{
		Topic:   site.EvaluationTopic(found.ID),
		Backlog: f.send,
		Live:    func(ctx context.Context, _ stream.Message, out *wire.Writer) error { return f.send(ctx, out) },
	})
}

// evalFollower is one reader's way through an evaluation's changes; those that come too fast are left out.
type evalFollower struct {
	*API
	id    string
	asker models.Asker
	last  int64 // the newest change that the reader has
	podIP string
}

// send writes the evaluation as it is now, if the reader has not seen it so.
func (f *evalFollower) send(ctx context.Context, out *wire.Writer) error {
	e, err := f.Store.Evaluation(ctx, f.id)
	if err != nil {
		return err
	}
	if !f.asker.MayRead(e) { // its owner shares it no more
		return stream.ErrDone
	}
	if e.Change > f.last {
		f.last = e.Change
		answer, err := f.evaluationAnswer(e, f.podIP)
		if err != nil {
			return err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("write evaluation %s: %w", e.ID, err)
		}
		if _, err := out.Write(stream.Frame(e.Change, "", text)); err != nil {
			return err
		}
	}
	if !e.State.Final() {
		return nil
	}
	if _, err := out.Write(stream.Frame(0, "end", nil)); err != nil {
		return err
	}
	return stream.ErrDone
}
