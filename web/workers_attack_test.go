package web_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/web"
	"warpboard/web/site"
)

// countingQueue counts the workers' connections to NATS: all that were opened, and those that are still open.
type countingQueue struct {
	web.Queue
	opened, open atomic.Int64
}

func (q *countingQueue) NewWorkerConn() (net.Conn, error) {
	conn, err := q.Queue.NewWorkerConn()
	if err != nil {
		return nil, err
	}
	q.opened.Add(1)
	q.open.Add(1)
	return &countedConn{Conn: conn, closed: sync.OnceFunc(func() { q.open.Add(-1) })}, nil
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

const (
	upgradeHead  = "GET " + job.WorkerPath + " HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
	wholeUpgrade = upgradeHead + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)

func TestAFailedHandshakeLeavesNoConnectionToNATS(t *testing.T) {
	q := &countingQueue{}
	s, handler := workerSite(t, func(c *web.Config) { q.Queue, c.Queue = c.Queue, q })
	for range 3 {
		// the server closes a connection after an upgrade request with a body
		conn, _ := from(s, t, "127.0.0.1", wholeUpgrade+"Content-Length: 1\r\n\r\nx")
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Fatal(err)
		}
	}
	if opened, open := q.opened.Load(), q.open.Load(); opened != 0 || open != 0 {
		t.Errorf("%d connections were opened, %d still are", opened, open)
	}
	takesAJob(t, handler, s.URL, "")
	tier.Until(t, "the worker's own is closed with it", func() bool { return q.open.Load() == 0 })
}

func TestHandshakesThatFailHoldNoPlaces(t *testing.T) {
	s, handler := workerSite(t, func(c *web.Config) { c.Limits = site.Limits{Streams: 4, StreamsEach: 4} })
	conn := dial(s, t, "127.0.0.1")
	for range 8 { // all on one connection
		io.WriteString(conn, upgradeHead+"\r\n")
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Fatalf("a handshake without a key: %v, %v", resp, err)
	}
	if !resp.Close {
		t.Fatal("the connection stays open, and each of its requests takes a place")
	}
	takesAJob(t, handler, s.URL, "")
}

func TestStrangersStreamsKeepNoWorkersAndNoPeopleOut(t *testing.T) {
	s, handler := workerSite(t, func(c *web.Config) { c.Limits = site.Limits{Streams: 2, StreamsEach: 1} })
	for i := range 3 {
		_, resp := from(s, t, "127.0.0.1",
			fmt.Sprintf("GET /devices/events HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.%d\r\n\r\n", i))
		if want := map[bool]int{true: http.StatusOK,
			false: http.StatusTooManyRequests}[i < 2]; resp.StatusCode != want {
			t.Fatalf("the stranger's stream %d: %s, want %d", i, resp.Status, want)
		}
	}
	resp := s.SignedIn("Ada", accounts.RoleUser).Get("/devices/events")
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a person's stream: %s", resp.Status)
	}
	takesAJob(t, handler, s.URL, "")
}

// TestMessagesWithoutContentCostNothing sends 10,000 empty messages, which anyone can do before NATS asks for a
// credential. The server must allocate little memory for them.
func TestMessagesWithoutContentCostNothing(t *testing.T) {
	s, _ := workerSite(t)
	conn, _ := from(s, t, "127.0.0.1", wholeUpgrade+"\r\n")
	empty, goodbye := []byte{0x82, 0x80, 0, 0, 0, 0}, []byte{0x88, 0x80, 0, 0, 0, 0}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	conn.Write(append(bytes.Repeat(empty, 10_000), goodbye...))
	io.Copy(io.Discard, conn) // until the server closes the connection
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d MiB were allocated for 60 kB", used>>20)
	}
}
