package conns

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxAcceptPause = time.Second      // longest pause before Accept tries again after a temporary error
	warnInterval   = 10 * time.Second // shortest interval between two warnings
	// After a refused request, the server reads and drops the rest of the body for at most maxLingerTime and
	// maxLingerBytes. Otherwise the client would see a reset connection instead of the reason. A client that sends more
	// may still see the reset.
	maxLingerTime  = 2 * time.Second
	maxLingerBytes = 8 << 20
	// A refused connection is drained, as the rest of a refused request is, within these smaller limits. At most
	// maxDrainingRefused such connections are drained at a time, because no limiter counts them.
	refusedTimeout       = time.Second / 2
	maxRefusedDrainBytes = 16 << 10
	maxDrainingRefused   = 64
	firstByteTimeout     = time.Minute // long, because browsers open connections in advance
)

// LimitedListener is a listener that refuses connections above the limits, and continues to work if the process runs
// out of file descriptors.
type LimitedListener struct {
	net.Listener
	limiter       *Limiter
	proxies       Proxies
	log           *slog.Logger
	closed        chan struct{}
	closeOnce     sync.Once
	drainingSlots chan struct{} // one element for each refused connection that is drained
	lastWarningAt time.Time     // only used by Accept, which one goroutine calls
}

// NewLimitedListener returns a listener that counts the connections of ln. Connections from trusted proxies count only
// for the total.
func NewLimitedListener(ln net.Listener, limiter *Limiter, proxies Proxies, log *slog.Logger) *LimitedListener {
	return &LimitedListener{Listener: ln, limiter: limiter, proxies: proxies, log: log,
		closed: make(chan struct{}), drainingSlots: make(chan struct{}, maxDrainingRefused)}
}

// Accept returns the next connection within the limits. Its error is permanent.
func (g *LimitedListener) Accept() (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; {
		conn, err := g.Listener.Accept()
		switch {
		case err == nil:
			if admitted := g.admitConnection(conn); admitted != nil {
				return admitted, nil
			}
			continue
		case !isTemporary(err):
			return nil, err
		}
		g.warnRarely("a connection cannot be accepted; trying again", "err", err)
		select {
		case <-time.After(pause):
		case <-g.closed:
			return nil, net.ErrClosed
		}
		pause = min(2*pause, maxAcceptPause)
	}
}

// Close closes the listener. It also ends an Accept call that waits for free file descriptors.
func (g *LimitedListener) Close() error {
	g.closeOnce.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// isTemporary reports whether an error of accept concerns one connection or is temporary, as in net/http.
func isTemporary(err error) bool {
	for _, of := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
		syscall.ECONNRESET, syscall.EPROTO, syscall.EINTR, syscall.ETIMEDOUT} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

func (g *LimitedListener) admitConnection(conn net.Conn) net.Conn {
	peer := TCPAddress(conn.RemoteAddr())
	who := SenderKeysOf(peer)
	if g.proxies.IsTrusted(peer) {
		who = nil
	}
	give, err := g.limiter.Acquire(ConnectionsResource, who, 1)
	switch bound := g.limiter.limits[ConnectionsResource]; {
	case err != nil && errors.Is(err, bound.ErrSenderLimit):
		g.refuseConnection(conn, "429 Too Many Requests")
		g.warnRarely("an address has its share of connections; if it is a reverse proxy, name it in --trusted-proxies", "ip", peer, "share", bound.PerSender)
		return nil
	case err != nil:
		g.refuseConnection(conn, "503 Service Unavailable")
		g.warnRarely("the limit of connections is reached; a higher limit of open files (ulimit -n) raises it", "most", bound.Total)
		return nil
	}
	conn.SetReadDeadline(time.Now().Add(firstByteTimeout))
	return &countedConn{Conn: conn, closeHooks: []func(){give}}
}

// refuseConnection writes a refusal and closes the connection. It does not block: the few bytes fit into the empty send
// buffer, and a goroutine drains the unread request. Over TLS it sends nothing, because the handshake has not taken
// place.
func (g *LimitedListener) refuseConnection(conn net.Conn, status string) {
	if _, encrypted := conn.(*tls.Conn); encrypted {
		conn.Close()
		return
	}
	// A shorter deadline could pass before the write on a busy machine.
	conn.SetWriteDeadline(time.Now().Add(refusedTimeout))
	fmt.Fprintf(conn, "HTTP/1.1 %s\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
	select {
	case g.drainingSlots <- struct{}{}:
		go func() {
			drainAndClose(conn, refusedTimeout, maxRefusedDrainBytes)
			conn.Close()
			<-g.drainingSlots
		}()
	default:
		conn.Close()
	}
}

// drainAndClose closes the sending side, then discards incoming data for the duration most, up to the given number of
// bytes. Closing a connection with unread data would reset it before the response arrives.
func drainAndClose(conn net.Conn, most time.Duration, bytes int64) {
	half, ok := conn.(halfCloser)
	if !ok {
		return
	}
	conn.SetDeadline(time.Now().Add(most)) // also for CloseWrite, which sends a message over TLS
	half.CloseWrite()
	io.CopyN(io.Discard, conn, bytes)
}

func (g *LimitedListener) warnRarely(message string, args ...any) {
	if now := time.Now(); now.Sub(g.lastWarningAt) > warnInterval {
		g.lastWarningAt = now
		g.log.Warn(message, args...)
	}
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	drainAtClose atomic.Bool // the response was sent before the whole request was read
	mu           sync.Mutex
	closeHooks   []func() // called when it is closed
}

// SyscallConn returns the raw connection, on which the server detects that the client has disconnected.
func (g *countedConn) SyscallConn() (syscall.RawConn, error) {
	conn := g.Conn
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	if sc, ok := conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// halfCloser is a connection whose sending side can be closed: TCP, or TLS over it.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// Close closes the connection. After DrainAtClose it first drains unread data, so that the client receives the
// response.
func (g *countedConn) Close() error {
	if g.drainAtClose.Swap(false) {
		drainAndClose(g.Conn, maxLingerTime, maxLingerBytes)
	}
	err := g.Conn.Close()
	g.mu.Lock()
	left := g.closeHooks
	g.closeHooks = nil
	g.mu.Unlock()
	for _, f := range left {
		f()
	}
	return err
}

// OnClose calls fn when a connection is closed, or at once if that cannot be detected.
func OnClose(conn net.Conn, fn func()) {
	g, ok := conn.(*countedConn)
	if !ok {
		fn()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closeHooks = append(g.closeHooks, fn)
}

// DrainAtClose makes Close drain a connection, because its request was not fully read.
func DrainAtClose(conn net.Conn) {
	if g, ok := conn.(*countedConn); ok {
		g.drainAtClose.Store(true)
	}
}
