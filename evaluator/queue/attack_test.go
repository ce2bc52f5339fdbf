package queue

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

// The thief has the secret of one worker, reads this source, and speaks NATS without any of our code in
// the way. The victims are a worker of another device and one of the thief's own device.
const (
	thief   = "cpu1"
	sibling = "cpu2"
	victim  = "gpu1"
)

// attacked is a site with its worker's connections and a record of the senders that it received messages from.
type attacked struct {
	site
	raw func(t *testing.T, opts ...nats.Option) *nats.Conn // connects with the thief's credential

	mu       sync.Mutex
	received map[string]bool // "heartbeat of gpu1"
}

func (a *attacked) note(what, worker string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.received[what+" of "+worker] = true
}

// listen records the name of the worker from which the site believes to have received each message.
func (a *attacked) listen() {
	a.handler.OnSync = func(h job.Heartbeat) error { a.note("sync", h.Worker); return nil }
	a.handler.OnEvent = func(e job.Event) { a.note("event", e.Worker) }
	a.handler.OnResult = func(r job.Result) error { a.note("result", r.Machine.Worker); return nil }
}

// subjects returns all subjects that an attacker who reads the source could try to send to.
func subjects() []string {
	list := []string{
		cancelSubject, siteChangesSubject, "prepare.CPU", "prepare.H200", "work.CPU", "work.H200", ">", "*",
		"$JS.API.INFO", "$JS.API.STREAM.CREATE.EVIL",
		"$SYS.REQ.USER.INFO", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.ACCOUNT.$G.CONNECT",
		"$SYS.REQ.USER.AUTH", "_R_.x", "_INBOX.x",
	}
	for _, who := range []string{thief, sibling, victim, "site", siteUserName} {
		list = append(list, inboxPrefix+encodeToken(who)+".x")
		for _, verb := range []string{"next", "next.CPU", "next.H200", "next.*", "sync", "events", "result", "done",
			"*", ">"} {
			list = append(list, "ask."+encodeToken(who)+"."+verb)
		}
	}
	return list
}

// payloads returns messages that the subjects' listeners would act on.
func payloads() []string {
	return []string{
		`{}`, `[]`, `[{"attempt_id":"a1","worker":"gpu1"}]`, `a1`, `not json`, `{"attempts":["a1","b1"]}`,
		`{"version":3}`, `{"version":1}`,
		`{"version":3,"busy":true,"held":["a1"]}`, `{"version":3,"ahead":true}`,
		`{"attempt_id":"a1","secret":"guessed","machine":{"worker":"gpu1"}}`,
		`{"name":"EVIL","subjects":["evil.>"],"storage":"memory"}`,
	}
}

// replies returns reply subjects on which a response would do harm.
func replies() []string {
	list := []string{"", cancelSubject, siteChangesSubject, "prepare.H200", "work.H200",
		inboxPrefix + encodeToken(thief) + ".own", inboxPrefix + encodeToken(thief) + "x.own",
		inboxPrefix + encodeToken(thief) + ".*", inboxPrefix + encodeToken(thief) + ".>"}
	for _, who := range []string{sibling, victim, "site", siteUserName} {
		list = append(list, inboxPrefix+encodeToken(who)+".x", "ask."+encodeToken(who)+".next.H200", "ask."+encodeToken(who)+".sync",
			"ask."+encodeToken(who)+".result")
	}
	return list
}

// TestAStolenWorkerSecretReachesNoOtherWorker sends each message to each subject, with each reply subject.
func TestAStolenWorkerSecretReachesNoOtherWorker(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		publish(t, a.site, aJob("a1", "H200"), aJob("a2", "CPU"))
		gpu, cpu := a.worker(t, victim), a.worker(t, sibling)
		theirs := []job.Job{receive(t, gpu, "H200"), receive(t, cpu, "CPU")}
		publish(t, a.site, aJob("b1", "H200"))

		all, err := a.connect(t.Context(), "spy", func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer all.Close()
		spy, err := all.Subscribe(">", func(m *nats.Msg) {
			if reaches(m.Subject, sibling) || reaches(m.Subject, victim) || m.Subject == cancelSubject {
				a.note("message to "+m.Subject, string(m.Data))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer spy.Unsubscribe()
		nc := a.raw(t)
		own, err := nc.Subscribe(inboxPrefix+encodeToken(thief)+".>", func(m *nats.Msg) {
			if strings.Contains(string(m.Data), `"attempt_id"`) {
				a.note("job that the thief got", m.Subject)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer own.Unsubscribe()
		for _, subject := range subjects() {
			for _, payload := range payloads() {
				for _, reply := range replies() {
					nc.PublishRequest(subject, reply, []byte(payload))
				}
				m := nats.NewMsg(subject)
				m.Data, m.Header = []byte(payload),
					nats.Header{"Nats-Trace-Dest": {"ask." + encodeToken(victim) + ".sync"}, "Nats-Msg-Id": {"b2"}}
				nc.PublishMsg(m)
			}
			if err := nc.Flush(); err != nil {
				t.Fatalf("%s: %v", subject, err)
			}
		}
		settle(t, a)

		a.mu.Lock()
		for what := range a.received {
			if !strings.HasSuffix(what, " of "+thief) {
				t.Errorf("the site heard a %.300s", what)
			}
		}
		a.mu.Unlock()
		publish(t, a.site, aJob("b2", "H200"))
		for _, want := range []string{"b1", "b2"} {
			if j := receive(t, gpu, "H200"); j.AttemptID != want {
				t.Errorf("the victim received %q, want %s", j.AttemptID, want)
			}
		}
		done(t, gpu, theirs[0])
		done(t, cpu, theirs[1])
	})
}

// reaches reports whether a subject is one of the worker's own.
func reaches(subject, worker string) bool {
	return slices.Contains(strings.Split(subject, "."), encodeToken(worker)) ||
		strings.HasPrefix(subject, inboxPrefix+encodeToken(worker)+".")
}

// settle waits until the site has handled all of the thief's messages: it has received the last sync.
func settle(t *testing.T, a *attacked) {
	t.Helper()
	w := a.worker(t, thief)
	for deadline := time.Now().Add(tier.Patience()); ; {
		err := w.PublishResult(t.Context(), job.Result{AttemptID: "last"}) // processed after the thief's other messages
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the site does not hear the thief itself: %v", err)
		}
	}
}
