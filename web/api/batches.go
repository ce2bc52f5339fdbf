package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// CreateBatch queues many kernels. Each entry of the response is an evaluation, or the reason why the request was
// refused.
func (a *API) CreateBatch(c *fiber.Ctx) error {
	if err := a.evaluations.RequireCaller(c); err != nil {
		return err
	}
	requests, err := evaluations.ReadBatch(c)
	if err != nil {
		return err
	}
	caller, err := a.evaluations.NewCaller(c)
	if err != nil {
		return err
	}
	batch, err := a.evaluations.SubmitBatch(c.UserContext(), caller, requests, c.Get(client.IdempotencyHeader))
	if err != nil {
		return err
	}
	answer := a.batchAnswer(batch)
	answer.EvaluationKey = caller.Key
	return c.Status(fiber.StatusAccepted).JSON(answer)
}

func (a *API) batchAnswer(batch evaluations.Batch) client.Batch {
	answer := client.Batch{ID: batch.ID, Entries: make([]client.BatchEntry, len(batch.Items))}
	if batch.ID != "" {
		answer.Results = a.site.Settings.BaseURL + "/api/v1/evaluations/batch/" + batch.ID + "/results"
	}
	for i, item := range batch.Items {
		if item.Err != nil {
			problem := newProblem(firstMistakes(item.Err))
			answer.Entries[i].Problem = &problem
			continue
		}
		answer.Entries[i].ID = item.Evaluation.ID
		answer.AcceptedCount++
	}
	return answer
}

// maxReportedMistakes limits the reported mistakes in one request of a batch.
const maxReportedMistakes = 5

func firstMistakes(err error) error {
	var fields evaluations.FieldErrors
	if errors.As(err, &fields) && len(fields) > maxReportedMistakes {
		return fields[:maxReportedMistakes]
	}
	return err
}

// CancelBatch cancels the unfinished evaluations of a batch.
func (a *API) CancelBatch(c *fiber.Ctx) error {
	batch, err := a.evaluations.ReadableBatch(c, c.Params("id"))
	if err != nil {
		return err
	}
	if err := a.site.Dispatcher.CancelBatch(c.UserContext(), batch.ID, "Its batch was cancelled."); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// BatchResults streams the results of a batch as JSON lines, in order of completion. With ?after=N it omits the first N
// results.
func (a *API) BatchResults(c *fiber.Ctx) error {
	batch, err := a.evaluations.ReadableBatch(c, c.Params("id"))
	if err != nil {
		return err
	}
	f := &batchFollower{api: a, id: batch.ID, lastResultNumber: int64(max(c.QueryInt("after"), 0)),
		podIP: evaluations.PodIP(c)}
	err = a.site.Stream(c, conns.StreamSource{
		Topic:        site.BatchTopic(batch.ID),
		WriteBacklog: f.sendNewResults,
		WriteMessage: func(ctx context.Context, _ conns.Message,
			out *conns.Writer) error {
			return f.sendNewResults(ctx, out)
		},
		WriteHeartbeat: f.writeHeartbeat,
	})
	c.Set(fiber.HeaderContentType, client.JSONLines)
	return err
}

// batchFollower sends the results of a batch to one reader.
type batchFollower struct {
	api              *API
	id               string
	lastResultNumber int64 // number of the newest result that the reader has
	podIP            string
}

// writeHeartbeat writes the results that no announcement reported, then an empty line as a sign of life. Readers of
// JSON lines skip empty lines.
func (f *batchFollower) writeHeartbeat(ctx context.Context, out *conns.Writer) error {
	if err := f.sendNewResults(ctx, out); err != nil {
		return err
	}
	return out.WriteByte('\n')
}

// sendNewResults writes the results that the reader does not have yet.
func (f *batchFollower) sendNewResults(ctx context.Context, out *conns.Writer) error {
	// read before the results: evaluations that end later are announced
	batch, err := f.api.site.Store.Work.Batch(ctx, f.id)
	if err != nil {
		return err
	}
	for {
		e, err := f.api.site.Store.Work.NextBatchResult(ctx, f.id, f.lastResultNumber)
		if db.KindOf(err) == db.NotFound {
			break
		}
		if err == nil {
			err = f.writeResult(ctx, out, e)
		}
		if err != nil {
			return err
		}
	}
	if batch.HasUnfinished {
		return nil
	}
	if err := writeResultLine(out, client.BatchResult{Number: f.lastResultNumber, End: true}); err != nil {
		return err
	}
	return conns.ErrStreamComplete
}

// writeResult sends the result of an ended evaluation and remembers its number.
func (f *batchFollower) writeResult(ctx context.Context, out *conns.Writer, e work.Evaluation) error {
	answer, err := f.api.evaluationAnswer(ctx, e, f.podIP)
	if err != nil {
		return err
	}
	if err := writeResultLine(out, client.BatchResult{Number: e.BatchResultNumber, Index: e.BatchIndex, Evaluation: &answer}); err != nil {
		return err
	}
	f.lastResultNumber = e.BatchResultNumber
	return out.Flush()
}

func writeResultLine(out *conns.Writer, line client.BatchResult) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write a result of a batch: %w", err)
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
