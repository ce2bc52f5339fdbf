package evaluations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/web/site"
)

// MaxBatchRequests limits the requests of a batch, and maxBatchValues the JSON values in all of them (131 per request).
const MaxBatchRequests, maxBatchValues = 1000, 1 << 17

// maxReportedMistakes limits the mistakes that a batch's response reports. Reporting one costs more than reading a JSON
// value.
const maxReportedMistakes = 2 * MaxBatchRequests

// Batch is the result of submitting a batch: one item per request, in request order. ID is empty if all requests were
// refused.
type Batch struct {
	ID    string
	Items []work.BatchItem
}

// SubmitBatch checks the requests of a batch and queues the valid ones.
func (s *Evaluations) SubmitBatch(
	ctx context.Context, caller Caller, requests []json.RawMessage, key string,
) (Batch, error) {
	if err := s.site.CheckDisk(); err != nil {
		return Batch{}, err
	}
	devices, err := s.devices(ctx)
	if err != nil {
		return Batch{}, err
	}
	mistakes := 0
	batch, good := Batch{Items: make([]work.BatchItem, len(requests))}, []work.BatchItem{}
	for i, text := range requests {
		item := work.BatchItem{Index: i}
		if item.Request, item.Err = s.readBatchItem(devices, text); item.Err == nil {
			good = append(good, item)
		}
		var fields FieldErrors
		if errors.As(item.Err, &fields) {
			mistakes += len(fields)
		}
		if mistakes > maxReportedMistakes {
			return Batch{}, site.Invalid("requests", "The first %d requests of the batch have more than %d mistakes. The last one has this: %s", i+1, maxReportedMistakes, fields[:1])
		}
		batch.Items[i] = item
	}
	if len(good) == 0 {
		return batch, nil
	}
	batch.ID, err = s.site.Store.Work.SubmitBatch(ctx, work.NewBatch{
		Requester:  caller.Requester,
		Caller:     caller.limitKey,
		RequestKey: key,
		Limits:     s.EvalLimits.EvaluationLimits,
		Items:      good,
	})
	for _, item := range good {
		batch.Items[item.Index] = item
	}
	if err == nil && batch.ID != "" {
		s.announceQueue()
	}
	return batch, err
}

func (s *Evaluations) readBatchItem(devices []Device, text json.RawMessage) (work.NewEvaluation, error) {
	body, err := readObject(text)
	if err != nil {
		return work.NewEvaluation{}, err
	}
	request, err := s.parseRequest(body, "")
	if err != nil {
		return work.NewEvaluation{}, err
	}
	return newEvaluation(devices, request)
}

// ReadableBatch returns a batch that the sender may read and cancel. For another sender's batch it returns a not-found
// error.
func (s *Evaluations) ReadableBatch(c *fiber.Ctx, id string) (work.Batch, error) {
	caller, err := s.Caller(c)
	if err != nil {
		return work.Batch{}, err
	}
	batch, err := s.site.Store.Work.Batch(c.UserContext(), id)
	if db.KindOf(err) == db.NotFound || err == nil && !batch.MayRead(caller.Requester) {
		return work.Batch{}, db.Errorf(db.NotFound, "You have no batch %.80s. If you sent it, sign in, or send the same token or %s.", id, client.EvaluationKeyHeader)
	}
	return batch, err
}

// ReadBatch splits a batch into its requests: JSON lines, or {"requests": […]}. It does not check the requests
// themselves.
func ReadBatch(c *fiber.Ctx) (requests []json.RawMessage, err error) {
	body := c.Request().Body() // not c.Body(), which copies the body
	if job.ExceedsValueCount(body, maxBatchValues) {
		return nil, site.Invalid("requests", "The requests of a batch can have at most %d values in total. Send some in another batch, and each tensor as one text, in data_b64.", maxBatchValues)
	}
	kind, _, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	switch {
	case kind == client.JSONLines || kind == "application/jsonl":
		requests, err = readLines(body)
	case IsJSON(c.Get(fiber.HeaderContentType)):
		requests, err = readList(body)
	default:
		err = site.Invalid("body", "The Content-Type must be application/json or %s.", client.JSONLines)
	}
	if err == nil && len(requests) == 0 {
		err = site.Invalid("requests", `The batch has no requests: send {"requests": […]}, or JSON lines as %s.`, client.JSONLines)
	}
	return requests, err
}

func tooManyRequestsError() error {
	return site.Invalid("requests", "A batch has at most %d requests. Send the rest in another one.", MaxBatchRequests)
}

func notListError(why string, about ...any) error {
	return site.Invalid("body", `The body is not {"requests": […]}: %s.`, fmt.Sprintf(why, about...))
}

// readLines splits JSON lines into requests. It skips runs of empty lines in one step, because there may be millions.
func readLines(body []byte) (requests []json.RawMessage, err error) {
	for body = bytes.TrimSpace(body); len(body) > 0; body = bytes.TrimSpace(body) {
		if len(requests) == MaxBatchRequests {
			return nil, tooManyRequestsError()
		}
		var line []byte
		line, body, _ = bytes.Cut(body, []byte("\n"))
		requests = append(requests, bytes.TrimSpace(line))
	}
	return requests, nil
}

// readList decodes the requests of {"requests": […]} one by one and stops at the limit.
func readList(body []byte) (requests []json.RawMessage, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := expectTokens(decoder, json.Delim('{'), "requests", json.Delim('[')); err != nil {
		return nil, notListError("%v", err)
	}
	for decoder.More() {
		if len(requests) == MaxBatchRequests {
			return nil, tooManyRequestsError()
		}
		var one json.RawMessage
		if err := decoder.Decode(&one); err != nil {
			return nil, notListError("%v", err)
		}
		requests = append(requests, one)
	}
	if err := expectTokens(decoder, json.Delim(']'), json.Delim('}')); err != nil {
		return nil, notListError("%v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, notListError("there is text after its end")
	}
	return requests, nil
}

// expectTokens reads JSON tokens, and returns an error that names the first unexpected one.
func expectTokens(decoder *json.Decoder, tokens ...json.Token) error {
	for _, want := range tokens {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("it ends where %v must be", want)
		case err != nil:
			return err
		case token == nil:
			return fmt.Errorf("null comes where %v must be", want)
		case token != want:
			return fmt.Errorf("%.40s comes where %v must be", fmt.Sprint(token), want)
		}
	}
	return nil
}
