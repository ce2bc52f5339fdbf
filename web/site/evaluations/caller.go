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

// Caller identifies the sender of a request for evaluations.
type Caller struct {
	work.Asker
	// subject of the limits: a person with all their tokens, or the address of a caller without token and session
	limit string
	Key   string // of such a caller; empty: they showed none
}

// Caller identifies the sender of a request. A new key makes a new caller, even at the same address.
func (s *Evaluations) Caller(c *fiber.Ctx) (Caller, error) {
	if user := site.Viewer(c); user != nil {
		person := fmt.Sprintf("person:%d", user.ID)
		owner := person
		if secret, ok := site.BearerToken(c); ok {
			owner = "token:" + db.Hash([]byte(secret))
		}
		return Caller{Asker: work.Asker{User: *user, Owner: owner}, limit: person}, nil
	}
	caller := Caller{limit: "address:" + s.site.VisitorShare(c), Key: c.Get(client.EvaluationKeyHeader)}
	if caller.Key == "" {
		return caller, nil
	}
	if raw, err := base64.RawURLEncoding.DecodeString(caller.Key); err != nil || len(raw) != evaluationKeyBytes {
		return caller, site.Invalid("key", "%s is not a key of this site. Leave it out to get a new one with the answer.", client.EvaluationKeyHeader)
	}
	caller.Owner = "key:" + db.Hash([]byte(caller.Key))
	return caller, nil
}

// NewCaller is caller for a request that makes an evaluation: anyone who has nothing to be known by gets a key.
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

// Readable returns an evaluation that the sender of a request may read. Any other is not found: that it exists is
// its owner's business, too. Everything that shows an evaluation gets it from here.
func (s *Evaluations) Readable(c *fiber.Ctx, id string) (work.Evaluation, Caller, error) {
	caller, err := s.Caller(c)
	if err != nil {
		return work.Evaluation{}, caller, err
	}
	e, err := s.site.Store.Work.ShownEvaluation(c.UserContext(), id)
	if db.KindOf(err) == db.NotFound || err == nil && !caller.MayRead(e) {
		return work.Evaluation{}, caller, NotFound(id)
	}
	return e, caller, err
}

// Changeable is Readable for actions of only the owner and admins.
func (s *Evaluations) Changeable(c *fiber.Ctx, id string) (work.Evaluation, error) {
	e, caller, err := s.Readable(c, id)
	if err == nil && !caller.MayChange(e) {
		err = site.Forbidden("forbidden", "Only the caller who requested this evaluation, and admins, may change it.")
	}
	return e, err
}

// NotFound is the same answer for a missing evaluation and for another person's.
func NotFound(id string) error {
	return db.Errorf(db.NotFound, "There is no evaluation %s, or it is not shared. If you requested it, sign in, or send the same token or %s.", id, client.EvaluationKeyHeader)
}

// Access lets through who shows a token, and where the operator opened the API everyone. A session
// alone may only look: any page could make a browser send its cookie.
func (s *Evaluations) Access(c *fiber.Ctx) error {
	if site.IsBearer(c) || site.Viewer(c) != nil && c.Method() == fiber.MethodGet || s.isOpen(c) {
		return c.Next()
	}
	return site.Unauthorized("This needs a token. Create one on your account page and send it as Authorization: Bearer TOKEN.")
}

// isOpen reports whether the request may evaluate without a token. A page of another site never may,
// whatever browser it runs in.
func (s *Evaluations) isOpen(c *fiber.Ctx) bool {
	switch s.open {
	case "all":
		return s.site.SameOrigin(c)
	case "loopback":
		return s.site.OnThisMachine(c) && s.site.SameOrigin(c)
	}
	return false
}

// RequireCaller lets through who is signed in, and where the operator opened the API everyone.
func (s *Evaluations) RequireCaller(c *fiber.Ctx) error {
	if site.Viewer(c) != nil || s.isOpen(c) {
		return nil
	}
	return site.Unauthorized("This needs a token. Create one on your account page and send it as Authorization: Bearer TOKEN.")
}
