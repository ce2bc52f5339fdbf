package evaluations

import (
	"encoding/base64"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/web/site"
)

const evaluationKeyBytes = 32

// Caller identifies the sender of an evaluation request.
type Caller struct {
	work.Requester
	// limitKey is the name under which limits count the caller: a person with all their tokens, or the address of a
	// sender without token and session.
	limitKey string
	Key      string // key of a sender without token and session; empty: none was sent
}

// Caller identifies the sender of a request. A sender with another key is another caller, even at the same address.
func (s *Evaluations) Caller(c *fiber.Ctx) (Caller, error) {
	if user := site.Viewer(c); user != nil {
		person := fmt.Sprintf("person:%d", user.ID)
		owner := person
		if secret, ok := site.BearerToken(c); ok {
			owner = "token:" + db.Hash([]byte(secret))
		}
		return Caller{Requester: work.Requester{User: *user, Owner: owner}, limitKey: person}, nil
	}
	caller := Caller{limitKey: "address:" + s.site.SenderNetwork(c), Key: c.Get(client.EvaluationKeyHeader)}
	if caller.Key == "" {
		return caller, nil
	}
	if raw, err := base64.RawURLEncoding.DecodeString(caller.Key); err != nil || len(raw) != evaluationKeyBytes {
		return caller, site.Invalid("key", "%s is not a key of this site. Leave it out to get a new one with the answer.", client.EvaluationKeyHeader)
	}
	caller.Owner = "key:" + db.Hash([]byte(caller.Key))
	return caller, nil
}

// NewCaller identifies the sender of a request that creates an evaluation. A sender without token, session, and key
// gets a new key.
func (s *Evaluations) NewCaller(c *fiber.Ctx) (Caller, error) {
	caller, err := s.Caller(c)
	if err != nil || caller.Owner != "" {
		return caller, err
	}
	caller.Key = site.RandomText(evaluationKeyBytes)
	caller.Owner = "key:" + db.Hash([]byte(caller.Key))
	c.Set(client.EvaluationKeyHeader, caller.Key)
	return caller, nil
}

// ReadableEvaluation returns an evaluation that the sender may read. For others it returns the error of a missing
// evaluation, so that it does not reveal whether the ID exists. All handlers that show an evaluation must use it.
func (s *Evaluations) ReadableEvaluation(c *fiber.Ctx, id string) (work.Evaluation, Caller, error) {
	caller, err := s.Caller(c)
	if err != nil {
		return work.Evaluation{}, caller, err
	}
	e, err := s.site.Store.Work.ReadableEvaluation(c.UserContext(), id)
	if db.KindOf(err) == db.NotFound || err == nil && !caller.MayRead(e) {
		return work.Evaluation{}, caller, NotFoundError(id)
	}
	return e, caller, err
}

// ChangeableEvaluation returns an evaluation that the sender may change: as its owner or an admin.
func (s *Evaluations) ChangeableEvaluation(c *fiber.Ctx, id string) (work.Evaluation, error) {
	e, caller, err := s.ReadableEvaluation(c, id)
	if err == nil && !caller.MayChange(e) {
		err = site.Forbidden("forbidden", "Only the caller who requested this evaluation, and admins, may change it.")
	}
	return e, err
}

// NotFoundError returns the error for an evaluation that is missing or that the sender may not read.
func NotFoundError(id string) error {
	return db.Errorf(db.NotFound, "There is no evaluation %s, or it is not shared. If you requested it, sign in, or send the same token or %s.", id, client.EvaluationKeyHeader)
}

// CheckAccess refuses requests without a token, unless the operator opened the API. A session is accepted for GET only,
// because any page could make a browser send its cookie.
func (s *Evaluations) CheckAccess(c *fiber.Ctx) error {
	if site.HasBearerToken(c) || site.Viewer(c) != nil && c.Method() == fiber.MethodGet || s.isOpenToRequest(c) {
		return c.Next()
	}
	return site.Unauthorized("This needs a token. Create one on your account page and send it as Authorization: Bearer TOKEN.")
}

// isOpenToRequest reports whether the operator allows the request to evaluate without a token. Requests from pages of
// other sites need a token in any case.
func (s *Evaluations) isOpenToRequest(c *fiber.Ctx) bool {
	switch s.tokenlessCallers {
	case "all":
		return s.site.IsSameOrigin(c)
	case "loopback":
		return s.site.IsOnlyOnThisMachine(c) && s.site.IsSameOrigin(c)
	}
	return false
}

// RequireCaller refuses senders who are not signed in, unless the operator opened the API.
func (s *Evaluations) RequireCaller(c *fiber.Ctx) error {
	if site.Viewer(c) != nil || s.isOpenToRequest(c) {
		return nil
	}
	return site.Unauthorized("This needs a token. Create one on your account page and send it as Authorization: Bearer TOKEN.")
}
