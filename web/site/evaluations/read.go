package evaluations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/web/site"
)

// BodyError is the error for a body that is too large or is not a JSON object. It has the problem, its location, and
// the input.
type BodyError struct {
	Type  string
	Loc   []any
	Msg   string
	Input any
	Ctx   map[string]any
}

// Error returns the message, followed by the location and the reason if they are known.
func (b *BodyError) Error() string {
	text := b.Msg
	if len(b.Loc) > 1 {
		text += fmt.Sprintf(" at byte %v", b.Loc[1])
	}
	if why, known := b.Ctx["error"]; known {
		text += fmt.Sprintf(": %v", why)
	}
	return text
}

// FieldErrors lists the invalid fields of a request.
type FieldErrors []kernelrun.Problem

// Error lists the invalid fields with their mistakes.
func (b FieldErrors) Error() string {
	var all []string
	for _, p := range b {
		all = append(all, p.Field+": "+p.Sentence())
	}
	return strings.Join(all, " ")
}

// errExtraData has the text of Python's json module.
var errExtraData = errors.New("Extra data") //lint:ignore ST1005 clients of the original service match this text

// notObjectError returns the error for a body that is not a JSON object.
func notObjectError(input any) *BodyError {
	return &BodyError{Type: "dict_type", Loc: []any{"body"}, Msg: "Input should be a valid dictionary", Input: input}
}

// readBody decodes the body of a request as a JSON object.
func readBody(c *fiber.Ctx) (map[string]any, error) {
	body := c.Request().Body() // not c.Body(), which copies the body
	if len(body) == 0 {
		return nil, &BodyError{Type: "missing", Loc: []any{"body"}, Msg: "Field required"}
	}
	if kind := c.Get(fiber.HeaderContentType); !IsJSON(kind) {
		wrong := notObjectError(string(body))
		wrong.Ctx = map[string]any{"error": NotJSONMessage(kind)}
		return nil, wrong
	}
	return readObject(body)
}

// readObject decodes a JSON object and keeps its numbers as text. The error is a *BodyError or FieldErrors.
func readObject(body []byte) (map[string]any, error) {
	if job.ExceedsValueCount(body, MaxRequestValues) {
		return nil, &BodyError{Type: "too_long", Loc: []any{"body"}, Input: map[string]any{},
			Msg: fmt.Sprintf("Input should have at most %d values. Send each tensor as one text, in data_b64", MaxRequestValues)}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	end := decoder.InputOffset()
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errExtraData
		}
	}
	if err != nil {
		return nil, &BodyError{Type: "json_invalid", Loc: []any{"body", jsonErrorOffset(err, end, body)}, Msg: "JSON decode error",
			Input: map[string]any{}, Ctx: map[string]any{"error": err.Error()}}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, notObjectError(value)
	}
	if broken := site.FindInvalidText(body); broken != nil {
		return nil, FieldErrors{{Field: strings.Join(broken.Path, " -> "), Type: "string_unicode",
			Message: "Input should be a valid string, unable to parse raw data as a unicode string", Hint: fmt.Sprintf("line %d is not UTF-8", broken.Line)}}
	}
	return object, nil
}

// jsonErrorOffset returns the byte offset of the first JSON error in a body. end is the end of the body's first value.
func jsonErrorOffset(err error, end int64, body []byte) int64 {
	var wrong *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return wrong.Offset - 1
	case errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(body))
	case errors.Is(err, errExtraData):
		return int64(len(body) - len(bytes.TrimLeft(body[end:], " \t\r\n")))
	}
	return end
}

// NotJSONMessage returns the message for a body with another content type than JSON.
func NotJSONMessage(contentType string) string {
	return fmt.Sprintf("the Content-Type is %.80q, not application/json", contentType)
}

// MaxRequestValues limits the JSON values in a request, because each needs much more memory than its text. A source is
// one value, and so is the data of a tensor.
const MaxRequestValues = 1 << 14

// IsJSON reports whether a body with this content type can be JSON. An empty content type counts as JSON.
func IsJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == fiber.MIMEApplicationJSON || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// ReadRequest reads and checks a request. An empty kind means the versioned API, where unknown keys are errors. The
// error is a *BodyError, FieldErrors, or *kernelrun.Refusal.
func (s *Evaluations) ReadRequest(c *fiber.Ctx, kind kernelrun.EvaluationKind) (kernelrun.Request, error) {
	body, err := readBody(c)
	if err != nil {
		return kernelrun.Request{}, err
	}
	return s.parseRequest(body, kind)
}

func (s *Evaluations) parseRequest(body map[string]any, kind kernelrun.EvaluationKind) (kernelrun.Request, error) {
	extras := kernelrun.RefuseMistyped
	switch kind {
	case "":
		kind, extras = requestKind(body), kernelrun.RefuseAll
	case kernelrun.KindCompile:
		extras = kernelrun.RefuseAll
	}
	request, problems := kernelrun.ReadRequest(kind, body, extras)
	if len(problems) > 0 {
		return request, FieldErrors(problems)
	}
	return request, request.Check(s.EvalLimits.RequestLimits)
}

// requestKind returns the kind of request that a body of the versioned API contains.
func requestKind(body map[string]any) kernelrun.EvaluationKind {
	if _, one := body["kernel"]; one {
		return kernelrun.KindEvaluate
	}
	return kernelrun.KindCompare
}
