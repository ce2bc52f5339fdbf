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
	maxAcceptPause = time.Second      // between two tries to accept
	warnInterval   = 10 * time.Second // however often it happens
	// For a moment the rest of a refused request is read and dropped, so that the sender of a slightly too large body
	// reads the reason instead of a reset connection. The sender of a larger one may see the reset.
	maxLingerTime = 2 * time.Second
	lingerBytes   = 8 << 20
	// The same holds for the head of a request on a refused connection. These connections have no share, so only few
	// are drained at a time.
	turnedAwayTimeout = time.Second / 2
	turnedAwayBytes   = 16 << 10
	maxTurnedAway     = 64
	firstByteTimeout  = time.Minute // browsers open connections that they may need
)

// Guard is a listener that outlives a lack of descriptors and refuses connections above the limits.
type Guard struct {
	net.Listener
	limiter *Limiter
	proxies Proxies
	log     *slog.Logger
	closed  chan struct{}
	once    sync.Once
	leaving chan struct{} // one element for each refused connection that is drained
	warned  time.Time     // only used by Accept, which one goroutine calls
}

// NewGuard counts the connections of ln. Connections of proxies have no share.
func NewGuard(ln net.Listener, limiter *Limiter, proxies Proxies, log *slog.Logger) *Guard {
	return &Guard{Listener: ln, limiter: limiter, proxies: proxies, log: log,
		closed: make(chan struct{}), leaving: make(chan struct{}, maxTurnedAway)}
}

// Accept returns the next connection within the limits. Its error is permanent.
func (g *Guard) Accept() (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; {
		conn, err := g.Listener.Accept()
		switch {
		case err == nil:
			if admitted := g.admit(conn); admitted != nil {
				return admitted, nil
			}
			continue
		case !isTemporary(err):
			return nil, err
		}
		g.warn("a connection cannot be accepted; trying again", "err", err)
		select {
		case <-time.After(pause):
		case <-g.closed:
			return nil, net.ErrClosed
		}
		pause = min(2*pause, maxAcceptPause)
	}
}

// Close also ends an Accept that waits for free descriptors.
func (g *Guard) Close() error {
	g.once.Do(func() { close(g.closed) })
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

func (g *Guard) admit(conn net.Conn) net.Conn {
	peer := AddrOf(conn.RemoteAddr())
	who := ShareOf(peer)
	if g.proxies.Trust(peer) {
		who = nil
	}
	give, err := g.limiter.Take(Connections, who, 1)
	switch bound := g.limiter.bounds[Connections]; {
	case err != nil && errors.Is(err, bound.ErrUsedUp):
		g.refuse(conn, "429 Too Many Requests")
		g.warn("an address has its share of connections; if it is a reverse proxy, name it in --trusted-proxies", "ip", peer, "share", bound.Each)
		return nil
	case err != nil:
		g.refuse(conn, "503 Service Unavailable")
		g.warn("the limit of connections is reached; a higher limit of open files (ulimit -n) raises it", "most", bound.Max)
		return nil
	}
	conn.SetReadDeadline(time.Now().Add(firstByteTimeout))
	return &countedConn{Conn: conn, left: []func(){give}}
}

// refuse answers with a refusal and closes. It does not block: the few bytes fit into an empty socket, and a
// goroutine waits a moment for the request that is not read. Over TLS it sends nothing, because the client would have
// to speak first.
func (g *Guard) refuse(conn net.Conn, status string) {
	if _, encrypted := conn.(*tls.Conn); encrypted {
		conn.Close()
		return
	}
	// shorter, a busy machine would let it pass before the write
	conn.SetWriteDeadline(time.Now().Add(turnedAwayTimeout))
	fmt.Fprintf(conn, "HTTP/1.1 %s\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
	select {
	case g.leaving <- struct{}{}:
		go func() {
			drain(conn, turnedAwayTimeout, turnedAwayBytes)
			conn.Close()
			<-g.leaving
		}()
	default:
		conn.Close()
	}
}

// drain ends its side and discards incoming data: closing with unread bytes would reset the connection before the
// answer has arrived.
func drain(conn net.Conn, most time.Duration, bytes int64) {
	half, ok := conn.(halfCloser)
	if !ok {
		return
	}
	conn.SetDeadline(time.Now().Add(most)) // TLS writes its closing message
	half.CloseWrite()
	io.CopyN(io.Discard, conn, bytes)
}

func (g *Guard) warn(message string, args ...any) {
	if now := time.Now(); now.Sub(g.warned) > warnInterval {
		g.warned = now
		g.log.Warn(message, args...)
	}
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	linger atomic.Bool // its answer was sent before the request was read
	mu     sync.Mutex
	left   []func() // called when it is closed
}

// SyscallConn is used to detect that the client has left.
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

// Close lets the answer arrive: closing with unread bytes would reset the connection before that.
func (g *countedConn) Close() error {
	if g.linger.Swap(false) {
		drain(g.Conn, maxLingerTime, lingerBytes)
	}
	err := g.Conn.Close()
	g.mu.Lock()
	left := g.left
	g.left = nil
	g.mu.Unlock()
	for _, f := range left {
		f()
	}
	return err
}

// WhenClosed calls fn when a connection is closed, or at once if that cannot be detected.
func WhenClosed(conn net.Conn, fn func()) {
	g, ok := conn.(*countedConn)
	if !ok {
		fn()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = append(g.left, fn)
}

// LingerAtClose marks a connection whose request was not fully read.
func LingerAtClose(conn net.Conn) {
	if g, ok := conn.(*countedConn); ok {
		g.linger.Store(true)
	}
}
