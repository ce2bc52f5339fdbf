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
	// After a refused request, the server reads and drops the rest of the body for at most maxLingerTime and
	// maxLingerBytes. Otherwise the client would see a reset connection instead of the reason. A client that sends more
	// may still see the reset.
	maxLingerTime  = 2 * time.Second
	maxLingerBytes = 8 << 20
	// A refused connection is drained in the same way, within these smaller limits. At most maxRefused such
	// connections are drained at a time, because no limiter counts them.
	refusedTimeout   = time.Second / 2
	refusedBytes     = 16 << 10
	maxRefused       = 64
	firstByteTimeout = time.Minute // browsers open connections that they may need
)

// Guard is a listener that refuses connections above the limits, and continues to work if the process runs out of file
// descriptors.
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

// NewGuard returns a listener that counts the connections of ln. Connections from trusted proxies count only for the
// total.
func NewGuard(ln net.Listener, limiter *Limiter, proxies Proxies, log *slog.Logger) *Guard {
	return &Guard{Listener: ln, limiter: limiter, proxies: proxies, log: log,
		closed: make(chan struct{}), leaving: make(chan struct{}, maxRefused)}
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

// Close closes the listener. It also ends an Accept call that waits for free file descriptors.
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
	who := SenderKeysOf(peer)
	if g.proxies.Trust(peer) {
		who = nil
	}
	give, err := g.limiter.Acquire(Connections, who, 1)
	switch bound := g.limiter.bounds[Connections]; {
	case err != nil && errors.Is(err, bound.ErrSenderLimit):
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

// refuse writes a refusal and closes the connection. It does not block: the few bytes fit into the empty send buffer,
// and a goroutine drains the unread request. Over TLS it sends nothing, because the handshake has not taken place.
func (g *Guard) refuse(conn net.Conn, status string) {
	if _, encrypted := conn.(*tls.Conn); encrypted {
		conn.Close()
		return
	}
	// A shorter deadline could pass before the write on a busy machine.
	conn.SetWriteDeadline(time.Now().Add(refusedTimeout))
	fmt.Fprintf(conn, "HTTP/1.1 %s\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
	select {
	case g.leaving <- struct{}{}:
		go func() {
			drain(conn, refusedTimeout, refusedBytes)
			conn.Close()
			<-g.leaving
		}()
	default:
		conn.Close()
	}
}

// drain closes the sending side and discards incoming data, at most bytes of it for at most most. Closing a connection
// with unread data would reset it before the response arrives.
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

// Close closes the connection. After LingerAtClose it first drains unread data, so that the client receives the
// response.
func (g *countedConn) Close() error {
	if g.linger.Swap(false) {
		drain(g.Conn, maxLingerTime, maxLingerBytes)
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

// LingerAtClose makes Close drain a connection, because its request was not fully read.
func LingerAtClose(conn net.Conn) {
	if g, ok := conn.(*countedConn); ok {
		g.linger.Store(true)
	}
}
