package queue

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
)

// twoWorkers authorizes a worker for the CPU and one for the H200, unless they are revoked.
type twoWorkers struct {
	mu      sync.Mutex
	revoked map[string]bool
	away    int // number of further checks that fail because the database does not answer
}

func (tw *twoWorkers) authorize(name, secret string) ([]string, bool, error) {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	if tw.away > 0 {
		tw.away--
		return nil, false, errors.New("the database is away")
	}
	device := map[string]string{"w.cpu": "CPU", "w.h200": "H200"}[name]
	return []string{device}, device != "" && secret == "right" && !tw.revoked[name], nil
}

func (tw *twoWorkers) revoke(name string) {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	tw.revoked = map[string]bool{name: true}
}

func guarded(t *testing.T) (site, *twoWorkers) {
	tw := &twoWorkers{}
	return openQueue(t, Config{ListenAddress: "127.0.0.1:0", Authorize: tw.authorize}), tw
}

func TestStrangersAreRefused(t *testing.T) {
	q, _ := guarded(t)
	for _, c := range []struct{ name, secret string }{
		{"w.cpu", "wrong"}, {"w.cpu", ""}, {"nobody", "right"}, {siteUserName, "guess"},
	} {
		_, err := ConnectWorker(t.Context(), WorkerConfig{URL: q.Addr(), Name: c.name, Secret: c.secret})
		if err == nil || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s with secret %q: error is %v", c.name, c.secret, err)
		}
	}
}

// TestWorkersOutliveAnOutageOfTheDatabase checks that a worker whose credential cannot be checked now is not refused,
// neither at its first connection nor when it reconnects, and that a wrong credential is still refused.
func TestWorkersOutliveAnOutageOfTheDatabase(t *testing.T) {
	t.Parallel() // the test waits for several seconds
	q, tw := guarded(t)
	tw.stayAway(1)
	conn, err := ConnectWorker(t.Context(), WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	if err != nil {
		t.Fatalf("at first: %v", err)
	}
	defer conn.Close()
	tw.stayAway(2) // nats.go gives up after two refusals
	q.DisconnectWorker("w.cpu")
	publish(t, q, aJob("a1", "CPU"))
	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	if j, err := conn.Receive(ctx, "CPU", nil, nil); err != nil || j.AttemptID != "a1" {
		t.Errorf("after the outage: %+v, %v", j, err)
	}
	tw.revoke("w.cpu")
	q.DisconnectWorker("w.cpu")
	if _, err := conn.Receive(ctx, "CPU", nil, nil); err == nil || ctx.Err() != nil {
		t.Errorf("who was revoked goes on: %v", err)
	}
}

func (tw *twoWorkers) stayAway(times int) {
	tw.mu.Lock()
	defer tw.mu.Unlock()
	tw.away = times
}

func TestAWorkerWaitsForASiteThatIsNotUpYet(t *testing.T) {
	addr := sandboxtest.Addr(t)
	warned := make(chan struct{})
	log := slog.New(slog.NewTextHandler(writerFunc(sync.OnceFunc(func() { close(warned) })), nil))
	connected := make(chan error, 1)
	go func() {
		conn, err := ConnectWorker(t.Context(), WorkerConfig{URL: "nats://" + addr, Name: "w.cpu", Secret: "right",
			Log: log})
		if err == nil {
			conn.Close()
		}
		connected <- err
	}()
	<-warned
	openQueue(t, Config{ListenAddress: addr, Authorize: (&twoWorkers{}).authorize})
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

// writerFunc is called with every line of a log.
type writerFunc func()

func (f writerFunc) Write(line []byte) (int, error) {
	f()
	return len(line), nil
}

func TestEmbeddedQueueOpensNoPort(t *testing.T) {
	q := openQueue(t, Config{})
	if addr := q.server.Addr(); addr != nil || q.Addr() != "" {
		t.Errorf("listens at %v, %q", addr, q.Addr())
	}
}

// rawWorker is a connection with a worker's credential and none of our code in the way.
func rawWorker(t *testing.T, q site) (nc *nats.Conn, refused <-chan error) {
	errs := make(chan error, 16)
	nc, err := nats.Connect(q.Addr(), nats.UserInfo("w.cpu", "right"),
		nats.CustomInboxPrefix(inboxPrefix+encodeToken("w.cpu")),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, errs
}

func TestWorkerMayOnlySayWhatItMust(t *testing.T) {
	q, _ := guarded(t)
	nc, refused := rawWorker(t, q)
	for _, subject := range []string{
		"ask.w=2Ecpu.next.H200", "ask.w=2Eh200.next.H200", "ask.w=2Eh200.next.CPU", "ask.w=2Eh200.sync",
		"ask.w=2Eh200.events", "ask.w=2Eh200.result",
		"ctl.cancel", "work.CPU", "work.H200", "prepare.H200", siteChangesSubject, authRequestSubject, "$JS.API.INFO",
		"$SYS.REQ.SERVER.PING", "_INBOX_w=2Eh200.x",
	} {
		expectRefused(t, nc, subject, refused, func() error { return nc.Publish(subject, []byte("{}")) })
	}
	for _, subject := range []string{">", "ask.>", "ask.w=2Ecpu.>", "work.H200", "work.*", "_INBOX.>",
		"_INBOX_w=2Eh200.>", siteChangesSubject, "$JS.>", "$SYS.>"} {
		expectRefused(t, nc, subject, refused, func() error { _, err := nc.SubscribeSync(subject); return err })
	}
}

// expectRefused expects the server to refuse subject. The server refuses in the order of the requests, so that a
// refusal of a second, forbidden subject comes first if the subject is allowed.
func expectRefused(t *testing.T, nc *nats.Conn, subject string, refused <-chan error, try func() error) {
	t.Helper()
	const forbidden = "forbidden.to.all"
	if err := errors.Join(try(), nc.Publish(forbidden, nil)); err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	for first := true; ; first = false {
		select {
		case err := <-refused:
			switch {
			case !errors.Is(err, nats.ErrPermissionViolation):
				t.Fatalf("%s: error is %v", subject, err)
			case strings.Contains(err.Error(), `"`+forbidden+`"`):
				if first {
					t.Errorf("%s is allowed", subject)
				}
				return
			case !strings.Contains(err.Error(), `"`+subject+`"`):
				t.Errorf("%s: error is %v", subject, err)
			}
		case <-time.After(tier.Patience()):
			t.Fatalf("%s: no answer", subject)
		}
	}
}

func TestWorkerDoesItsWholeWorkWithItsNarrowRights(t *testing.T) {
	q, _ := guarded(t)
	w := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	publish(t, q, aJob("a1", "CPU"))
	first := receive(t, w, "CPU")
	for _, step := range []func() error{
		func() error { return w.PublishEvent(job.Event{AttemptID: "a1"}) },
		func() error { return w.Sync(t.Context(), job.Heartbeat{}) },
		func() error { return w.PublishResult(t.Context(), job.Result{AttemptID: first.AttemptID}) },
	} {
		if err := step(); err != nil {
			t.Error(err)
		}
	}
}

func TestKickedWorkerDoesNotComeBackOnceItIsRevoked(t *testing.T) {
	q, tw := guarded(t)
	cpu := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	h200 := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.h200", Secret: "right"})
	publish(t, q, aJob("a1", "CPU"), aJob("b1", "H200"))
	done(t, cpu, receive(t, cpu, "CPU"))

	tw.revoke("w.cpu")
	q.DisconnectWorker("w.cpu")
	publish(t, q, aJob("a2", "CPU"))
	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	if j, err := cpu.Receive(ctx, "CPU", nil, nil); err == nil || ctx.Err() != nil ||
		!strings.Contains(err.Error(), "w.cpu") {
		t.Errorf("the revoked worker got %+v, error %v", j, err)
	}
	if j := receive(t, h200, "H200"); j.AttemptID != "b1" {
		t.Errorf("the other worker got %s", j.AttemptID)
	}
}

func TestKickedWorkerThatIsStillWelcomeComesBack(t *testing.T) {
	q, _ := guarded(t)
	w := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.cpu", Secret: "right"})
	q.DisconnectWorker("w.cpu")
	publish(t, q, aJob("a1", "CPU"))
	done(t, w, receive(t, w, "CPU"))
}

// TestAWorkerHasOnlyItsNewestConnection checks that a stolen secret gets the server to hold messages for one connection
// only, and that a restarted worker is not refused because of its former connection.
func TestAWorkerHasOnlyItsNewestConnection(t *testing.T) {
	q, _ := guarded(t)
	connect := func() (nc *nats.Conn, closed <-chan struct{}) {
		ended := make(chan struct{})
		nc, err := nats.Connect(q.Addr(), nats.UserInfo("w.cpu", "right"), nats.NoReconnect(),
			nats.ClosedHandler(func(*nats.Conn) { close(ended) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc, ended
	}
	other := dial(t, WorkerConfig{URL: q.Addr(), Name: "w.h200", Secret: "right"})
	newest, closed := connect()
	for range 2 {
		before := closed
		newest, closed = connect()
		select {
		case <-before:
		case <-time.After(tier.Patience()):
			t.Fatal("the former connection stays open")
		}
	}
	if err := newest.Flush(); err != nil {
		t.Errorf("the newest connection: %v", err)
	}
	if err := other.Sync(t.Context(), job.Heartbeat{}); err != nil {
		t.Errorf("another worker: %v", err)
	}
}

func TestTokensTellDifferentNamesApart(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"H200", "h200", "RTX 4090", "RTX=204090", "RTX.4090", "a*b", "a>b", "gpü", "", "=",
		"a\nb"} {
		tok := encodeToken(s)
		if other, ok := seen[tok]; ok {
			t.Errorf("%q and %q are both %q", s, other, tok)
		}
		seen[tok] = s
		if strings.ContainsAny(tok, " .*>\t\n/\\") {
			t.Errorf("token of %q is %q", s, tok)
		}
		if back := decodeToken(tok); back != s {
			t.Errorf("%q came back as %q", s, back)
		}
	}
	for _, bad := range []string{"a=", "a=2", "a=zz", "a b", "=41"} {
		if got := decodeToken(bad); got != "" {
			t.Errorf("name(%q) is %q", bad, got)
		}
	}
}
