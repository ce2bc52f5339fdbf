package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/web/client"
)

const evaluationKeyBytes = 32

// evalCaller is who sends a request, as far as evaluations care.
type evalCaller struct {
	models.Asker
	limit string // whom the limits count for: the owner, or the address of somebody with neither token nor session
	key   string // of such a caller; empty: they showed none
}

// caller tells who sends a request. A caller with a new key is a new caller, whatever the address.
func (s *Evaluations) caller(c *fiber.Ctx) (evalCaller, error) {
	if user := viewer(c); user != nil {
		owner := fmt.Sprintf("person:%d", user.ID)
		if secret, ok := bearerToken(c); ok {
			owner = "token:" + hashOf(secret)
		}
		return evalCaller{Asker: models.Asker{User: *user, Owner: owner}, limit: owner}, nil
	}
	caller := evalCaller{limit: "address:" + c.IP(), key: c.Get(client.EvaluationKeyHeader)}
	if caller.key == "" {
		return caller, nil
	}
	if raw, err := base64.RawURLEncoding.DecodeString(caller.key); err != nil || len(raw) != evaluationKeyBytes {
		return caller, invalid("key", "%s is not a key that this site gave out. Send none, and the answer brings one.", client.EvaluationKeyHeader)
	}
	caller.Owner = "key:" + hashOf(caller.key)
	return caller, nil
}

// newCaller is caller for a request that makes an evaluation: whoever has nothing to be known by gets a key.
func (s *Evaluations) newCaller(c *fiber.Ctx) (evalCaller, error) {
	caller, err := s.caller(c)
	if err != nil || caller.Owner != "" {
		return caller, err
	}
	caller.key = randomText(evaluationKeyBytes)
	caller.Owner = "key:" + hashOf(caller.key)
	c.Set(client.EvaluationKeyHeader, caller.key)
	return caller, nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// readable returns an evaluation that the sender of a request may read. Any other is not found: that it exists is
// its owner's business, too. Everything that shows an evaluation gets it from here.
func (s *Evaluations) readable(c *fiber.Ctx, id string) (models.Evaluation, evalCaller, error) {
	caller, err := s.caller(c)
	if err != nil {
		return models.Evaluation{}, caller, err
	}
	e, err := s.Store.Evaluation(c.UserContext(), id)
	if models.KindOf(err) == models.NotFound || err == nil && !caller.MayRead(e) {
		return models.Evaluation{}, caller, notReadable(id)
	}
	return e, caller, err
}

// changeable is readable for what only the owner and admins may do.
func (s *Evaluations) changeable(c *fiber.Ctx, id string) (models.Evaluation, error) {
	e, caller, err := s.readable(c, id)
	if err == nil && !caller.MayChange(e) {
		err = forbidden("forbidden", "Only whoever asked for this evaluation, and admins, may change it.")
	}
	return e, err
}

// notReadable says the same of an evaluation that is not there and of one that is somebody else's.
func notReadable(id string) error {
	return models.Errorf(models.NotFound, "There is no evaluation %s, or it is not shared. If you asked for it, sign in, or send the same token or %s.", id, client.EvaluationKeyHeader)
}

// access lets through who shows a token, and where the operator opened the API everybody. A session
// alone may only look: any page could make a browser send its cookie.
func (s *Evaluations) access(c *fiber.Ctx) error {
	if isBearer(c) || viewer(c) != nil && c.Method() == fiber.MethodGet || s.evalOpen(c) {
		return c.Next()
	}
	return unauthorized("This needs a token: make one on your page and send it as Authorization: Bearer TOKEN.")
}

// evalOpen tells whether the request may evaluate without a token. A page of another site never may,
// whatever browser it runs in.
func (s *Evaluations) evalOpen(c *fiber.Ctx) bool {
	switch s.open {
	case "all":
		return s.sameOrigin(c)
	case "loopback":
		return s.onThisMachine(c) && s.sameOrigin(c)
	}
	return false
}

// needCaller lets through who is signed in, and where the operator opened the API everybody.
func (s *Evaluations) needCaller(c *fiber.Ctx) error {
	if viewer(c) != nil || s.evalOpen(c) {
		return nil
	}
	return unauthorized("This needs a token: make one on your page and send it as Authorization: Bearer TOKEN.")
}
