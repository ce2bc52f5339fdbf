package queue

import (
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

const (
	// authRequestSubject is the subject of authorization requests from a NATS server. Workers can neither send nor
	// receive on it.
	authRequestSubject = "$SYS.REQ.USER.AUTH"
	// authorizationLifetime is the time after which a worker of a cluster must authenticate again, because the site may
	// not disconnect clients of a cluster. A revoked worker keeps its connection for up to this long, but the site
	// gives it no job and ignores its slots (fleet.AllowedDevices). With a shorter time workers reconnect more often,
	// and events are lost during each reconnect.
	authorizationLifetime = 10 * time.Minute
)

// authRequestHandler authorizes workers for a cluster that is configured with auth_callout. It signs with the account
// key that the configuration names as issuer.
type authRequestHandler struct {
	queue      *Queue
	accountKey nkeys.KeyPair
}

// serveAuthRequests starts handling authorization requests if there is a key to sign with.
func (q *Queue) serveAuthRequests() error {
	if q.cfg.AccountSeed == "" || q.server != nil {
		return nil
	}
	keys, err := nkeys.FromSeed([]byte(q.cfg.AccountSeed))
	if err != nil {
		return fmt.Errorf("queue: the seed of the account key: %w", err)
	}
	c := authRequestHandler{q, keys}
	// One of the site's processes handles each authorization request. While all are down, existing connections stay,
	// but no new worker can connect.
	if _, err := q.natsConn.QueueSubscribe(authRequestSubject, sitesQueueGroup, c.answerRequest); err != nil {
		return fmt.Errorf("queue: listen to who wants to connect: %w", err)
	}
	return nil
}

func (c authRequestHandler) answerRequest(m *nats.Msg) {
	request, err := jwt.DecodeAuthorizationRequestClaims(string(m.Data))
	if err != nil {
		c.queue.logInvalid("a question who may connect", "err", err)
		return
	}
	who := request.ConnectOptions
	may, err := c.queue.authorize(who.Username, who.Password, request.ClientInformation.Host)
	if err == errCannotAuthorizeNow {
		// Without a response the cluster refuses the worker after its authorization timeout, which must exceed
		// connectTimeout. Otherwise the worker receives the refusal and treats a second one as permanent.
		return
	}
	response := jwt.NewAuthorizationResponseClaims(request.UserNkey)
	response.Audience = request.Server.ID
	if err != nil {
		response.Error = err.Error()
	} else if response.Jwt, err = c.sign(request.UserNkey, who.Username, may); err != nil {
		c.queue.log.Error("the permissions of a worker were not signed", "err", err)
		return
	}
	token, err := response.Encode(c.accountKey)
	if err == nil {
		err = m.Respond([]byte(token))
	}
	if err != nil {
		c.queue.log.Error("a connection to the cluster was not answered", "err", err)
	}
}

// sign signs a worker's permissions for the cluster.
func (c authRequestHandler) sign(key, name string, may *server.Permissions) (string, error) {
	user := jwt.NewUserClaims(key)
	user.Name, user.Audience, user.Expires = name, c.queue.cfg.ClusterAccount, time.Now().Add(authorizationLifetime).Unix()
	user.Pub.Allow.Add(may.Publish.Allow...)
	user.Sub.Allow.Add(may.Subscribe.Allow...)
	return user.Encode(c.accountKey)
}

// CheckSeed returns an error if seed is not the seed of an account key.
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
