package queue

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// siteUserName is the NATS user of the site. It cannot be a worker's token, in which two hexadecimal digits follow each
// "=".
const siteUserName = "=site"

// A worker waits connectTimeout for a connection and then tries again. If its credential cannot be checked now, the
// site sends no answer for delayedRefusalTime, so that the worker's own timeout comes first: NATS has no temporary
// refusal, and clients treat each refusal as permanent.
const (
	connectTimeout     = 2 * time.Second
	delayedRefusalTime = 2 * connectTimeout
)

var (
	errCannotAuthorizeNow = errors.New("the site cannot look")
	errUnknownCredential  = errors.New("this is no worker's credential")
)

// authorize returns the permissions of the worker with a name and secret. After errCannotAuthorizeNow the caller must
// not respond, so that the worker tries again.
func (q *Queue) authorize(name, secret, from string) (*server.Permissions, error) {
	if name == "" || name == siteUserName || q.cfg.Authorize == nil {
		return nil, errUnknownCredential
	}
	devices, ok, err := q.cfg.Authorize(name, secret)
	if err != nil {
		q.refusedLog.write(slog.LevelError, "a worker's credential cannot be checked now; it will ask again", "worker", shortenForLog(name), "err", err)
		return nil, errCannotAuthorizeNow
	}
	if !ok { // wrong secret or revoked credential
		q.refusedLog.write(slog.LevelWarn, "worker refused", "worker", shortenForLog(name), "from", from)
		return nil, errUnknownCredential
	}
	return workerPermissions(name, devices), nil
}

// authenticator authorizes connections to the embedded server.
type authenticator struct{ queue *Queue }

// Check accepts the site itself with all permissions, and authorized workers with a worker's. The server calls it
// concurrently, in the goroutine of each connection, and again at each reconnect.
func (a authenticator) Check(c server.ClientAuthentication) bool {
	name, secret := c.GetOpts().Username, c.GetOpts().Password
	if name == siteUserName {
		return subtle.ConstantTimeCompare([]byte(secret), []byte(a.queue.sitePassword)) == 1
	}
	may, err := a.queue.authorize(name, secret, fmt.Sprint(c.RemoteAddress()))
	if err == errCannotAuthorizeNow {
		time.Sleep(delayedRefusalTime) // sleeping blocks only this connection's goroutine
	}
	if err != nil || !a.queue.replaceConnection(name, c.GetID()) {
		return false
	}
	// Permissions do not change during a connection. Disconnect a worker after its credential gained or lost a device
	// (DisconnectWorker).
	c.RegisterUser(&server.User{Username: name, Permissions: may})
	return true
}

// workerConn is the newest connection of a worker to the embedded server.
type workerConn struct {
	id       uint64
	mayStart time.Time // until then the server may hold messages for a replaced connection
}

// replacementDelay is the pause before a connection that replaces another one. It limits the number of replaced
// connections for which the server still holds messages, for up to twice writeTimeout each. It is shorter than
// connectTimeout.
const replacementDelay = time.Second

// replaceConnection makes a connection the only one of its worker. The newest wins, because the site may not yet know
// that the former one is broken. It returns false if a newer one came during replacementDelay.
func (q *Queue) replaceConnection(worker string, id uint64) bool {
	q.workerConnsMu.Lock()
	conn := q.workerConns[worker]
	if conn.id != id && q.server.DisconnectClientByID(conn.id) == nil { // there is no client 0
		q.refusedLog.write(slog.LevelWarn, "a worker's new connection replaces its former one", "worker",
			shortenForLog(worker))
		conn.mayStart = time.Now().Add(replacementDelay)
	}
	conn.id = id
	q.workerConns[worker] = conn
	q.workerConnsMu.Unlock()
	time.Sleep(time.Until(conn.mayStart)) // sleeping blocks only this connection's goroutine
	q.workerConnsMu.Lock()
	defer q.workerConnsMu.Unlock()
	return q.workerConns[worker].id == id
}

// workerPermissions returns the minimal permissions of a worker: to send requests to the site, for jobs of its devices
// only, and to receive cancellations and announcements of work for its devices. A worker must not send to a subject on
// which the NATS server itself listens, because the server would respond to any reply subject with its own permissions.
func workerPermissions(name string, devices []string) *server.Permissions {
	publish := []string{requestSubject(name, heartbeatRequestName), requestSubject(name, eventsRequestName), requestSubject(name, resultRequestName)}
	subscribe := []string{inboxPrefix + encodeToken(name) + ".>", cancelSubject}
	for _, device := range devices {
		publish = append(publish, requestSubject(name, jobRequestName+"."+encodeToken(device)))
		subscribe = append(subscribe, workSubject(device))
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: subscribe},
	}
}

// DisconnectWorker disconnects the remote worker with a name from the embedded server. With a revoked credential the
// worker cannot reconnect. With an external cluster it does nothing.
func (q *Queue) DisconnectWorker(name string) {
	if q.server == nil || name == siteUserName {
		return
	}
	open, err := q.server.Connz(&server.ConnzOptions{Username: true, User: name, Limit: maxListedConnections})
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

// maxListedConnections exceeds by far the number of connections of one worker.
const maxListedConnections = 10_000
