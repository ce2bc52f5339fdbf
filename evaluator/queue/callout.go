package queue

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

const (
	// calloutSubject carries a NATS server's questions who may connect; workers may neither send nor receive it.
	calloutSubject = "$SYS.REQ.USER.AUTH"
	// letInFor is how long a worker of a cluster stays connected before its credential is looked at again: a cluster gives
	// the site no right to disconnect anyone.
	// So a revoked worker of a cluster keeps listening and asking for up to this long; MayTake refuses its heartbeats'
	// slots and takes before that. Shorter, and every worker reconnects more often, with a gap in which events are lost.
	letInFor = 10 * time.Minute
)

var errNotNow = errors.New("the site cannot look")

// callout answers a cluster with auth_callout in its configuration, which asks the site who its workers are. The site signs
// with the account key that the cluster's configuration names as the issuer.
type callout struct {
	q    *Queue
	keys nkeys.KeyPair
}

// openCallout begins to answer, if there is a key to sign with.
func (q *Queue) openCallout() error {
	if q.cfg.AccountSeed == "" || q.host != nil {
		return nil
	}
	keys, err := nkeys.FromSeed([]byte(q.cfg.AccountSeed))
	if err != nil {
		return fmt.Errorf("queue: the seed of the account key: %w", err)
	}
	c := callout{q, keys}
	// One of the site's processes answers. While all are down no one new can connect; who is connected stays.
	if _, err := q.nc.QueueSubscribe(calloutSubject, askSites, c.answer); err != nil {
		return fmt.Errorf("queue: listen to who wants to connect: %w", err)
	}
	return nil
}

func (c callout) answer(m *nats.Msg) {
	request, err := jwt.DecodeAuthorizationRequestClaims(string(m.Data))
	if err != nil {
		c.q.drop("a question who may connect", "err", err)
		return
	}
	response := jwt.NewAuthorizationResponseClaims(request.UserNkey)
	response.Audience = request.Server.ID
	response.Jwt, err = c.letIn(request)
	if errors.Is(err, errNotNow) {
		// Not answered: the cluster refuses the worker after the timeout of its authorization, which must be longer than
		// connectWait. With a shorter one the worker takes that for good when it comes twice.
		c.q.refused.say(slog.LevelError, "a worker's credential cannot be checked now; it will ask again", "worker", short(request.ConnectOptions.Username), "err", err)
		return
	}
	if err != nil {
		c.q.refused.say(slog.LevelWarn, "worker refused", "worker", short(request.ConnectOptions.Username), "from", request.ClientInformation.Host, "err", err)
		response.Error = "this is no worker's credential"
	}
	token, err := response.Encode(c.keys)
	if err == nil {
		err = m.Respond([]byte(token))
	}
	if err != nil {
		c.q.log.Error("the cluster was not told who may connect", "err", err)
	}
}

// letIn signs the permissions of the worker that asks.
func (c callout) letIn(request *jwt.AuthorizationRequestClaims) (string, error) {
	name, secret := request.ConnectOptions.Username, request.ConnectOptions.Password
	if name == "" || name == siteUser || c.q.cfg.Authorize == nil {
		return "", fmt.Errorf("no name")
	}
	devices, ok, err := c.q.cfg.Authorize(name, secret)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNotNow, err)
	}
	if !ok {
		return "", fmt.Errorf("the secret is wrong, or the credential was revoked")
	}
	may := workerPermissions(name, devices)
	user := jwt.NewUserClaims(request.UserNkey)
	user.Name, user.Audience, user.Expires = name, c.q.cfg.Account, time.Now().Add(letInFor).Unix()
	user.Pub.Allow.Add(may.Publish.Allow...)
	user.Sub.Allow.Add(may.Subscribe.Allow...)
	return user.Encode(c.keys)
}

// CheckSeed says what is wrong with the seed of an account key.
func CheckSeed(seed string) error {
	keys, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return err
	}
	public, err := keys.PublicKey()
	if err == nil && !nkeys.IsValidPublicAccountKey(public) {
		return fmt.Errorf("it is no account's: its public key does not begin with A")
	}
	return err
}
