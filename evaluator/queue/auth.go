package queue

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// siteUser cannot be a worker's token: "=" is always followed by two hexadecimal digits there.
const siteUser = "=site"

// A worker that tries to connect waits for connectWait, and tries again. Who cannot be checked now is answered after that, when
// no one listens any more: of all answers to who connects, NATS clients take none for "not now". A refusal they take for good.
const (
	connectWait = 2 * time.Second
	silence     = 2 * connectWait
)

var (
	errNotNow  = errors.New("the site cannot look")
	errRefused = errors.New("this is no worker's credential")
)

// letIn gives the permissions of the worker with this name and secret. After errNotNow it is to get no answer, and tries again.
func (q *Queue) letIn(name, secret, from string) (*server.Permissions, error) {
	if name == "" || name == siteUser || q.cfg.Authorize == nil {
		return nil, errRefused
	}
	devices, ok, err := q.cfg.Authorize(name, secret)
	if err != nil {
		q.refused.say(slog.LevelError, "a worker's credential cannot be checked now; it will ask again", "worker", short(name), "err", err)
		return nil, errNotNow
	}
	if !ok { // the secret is wrong, or the credential was revoked
		q.refused.say(slog.LevelWarn, "worker refused", "worker", short(name), "from", from)
		return nil, errRefused
	}
	return workerPermissions(name, devices), nil
}

// authenticator decides who may connect to the embedded server, and what they may say.
type authenticator struct{ q *Queue }

// Check lets in the site itself with all rights, and authorized workers with a worker's rights. The server calls it in the
// goroutine of each connection, several at once, and again at each reconnect.
func (a authenticator) Check(c server.ClientAuthentication) bool {
	name, secret := c.GetOpts().Username, c.GetOpts().Password
	if name == siteUser {
		return subtle.ConstantTimeCompare([]byte(secret), []byte(a.q.secret)) == 1
	}
	may, err := a.q.letIn(name, secret, fmt.Sprint(c.RemoteAddress()))
	if err == errNotNow {
		time.Sleep(silence) // the goroutine is the connection's own
	}
	if err != nil {
		return false
	}
	// Permissions are fixed for the life of the connection: a credential that gains or loses a device must be kicked to
	// see it.
	c.RegisterUser(&server.User{Username: name, Permissions: may})
	return true
}

// workerPermissions are the least that a worker needs: to send requests to the site, for jobs of its devices only, and to
// receive notices of cancelled attempts, and of work for its devices. It may not send to a subject on which
// the NATS server itself listens: the server answers to any subject that the sender names, with the server's rights.
func workerPermissions(name string, devices []string) *server.Permissions {
	publish := []string{askSubject(name, askSync), askSubject(name, askEvents), askSubject(name, askResult)}
	subscribe := []string{inboxPrefix + token(name) + ".>", cancelSubject}
	for _, device := range devices {
		publish = append(publish, askSubject(name, askNext+"."+token(device)))
		subscribe = append(subscribe, workSubject(device))
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: subscribe},
	}
}

// Kick disconnects the remote worker of that name from the embedded server. Without its
// credential it does not come back. On an external cluster the cluster's own means apply.
func (q *Queue) Kick(name string) {
	if q.server == nil || name == siteUser {
		return
	}
	open, err := q.server.Connz(&server.ConnzOptions{Username: true, User: name, Limit: kickLimit})
	if err != nil {
		q.log.Error("list the worker's connections", "worker", name, "err", err)
		return
	}
	for _, conn := range open.Conns {
		if err := q.server.DisconnectClientByID(conn.Cid); err != nil {
			q.log.Debug("worker was gone already", "worker", name, "err", err)
		}
	}
}

// kickLimit is far above the connections that one worker opens.
const kickLimit = 10_000
