package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

// The thief has the secret of one worker, reads this source, and speaks NATS without any of our code in
// the way. The victims are a worker of another device and one of the thief's own device.
const (
	thief   = "cpu1"
	sibling = "cpu2"
	victim  = "gpu1"
)

// attacked is a site with its worker's connections and a record of whom it heard.
type attacked struct {
	site
	raw func(t *testing.T, opts ...nats.Option) *nats.Conn // as the thief

	mu    sync.Mutex
	heard map[string]bool // "heartbeat of gpu1"
}

func (a *attacked) note(what, worker string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard[what+" of "+worker] = true
}

// listen records every name in which somebody speaks to the site.
func (a *attacked) listen(t *testing.T) {
	listening(t, func(ctx context.Context) error {
		return a.Heartbeats(ctx, func(b job.Heartbeat) { a.note("heartbeat", b.Worker) })
	})
	listening(t, func(ctx context.Context) error {
		return a.Events(ctx, func(e job.Event) { a.note("event", e.Worker) })
	})
	listening(t, func(ctx context.Context) error {
		return a.Results(ctx, func(_ context.Context, r job.Result) error {
			a.note("result", r.Machine.Worker)
			return nil
		})
	})
}

// subjects are all that a message can be sent to, as somebody who reads the source would list them.
func subjects() []string {
	list := []string{
		cancelSubject, "prepare.CPU", "prepare.H200", "jobs.CPU.a9", "jobs.H200.a9", "jobs.H200.a1", "results.site", ">", "*",
		"$SYS.REQ.USER.INFO", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.ACCOUNT.$G.CONNECT", "_R_.x", "_INBOX.x",
	}
	for _, who := range []string{thief, sibling, victim, "site", siteUser} {
		list = append(list, resultPrefix+token(who), eventPrefix+token(who), beatPrefix+token(who), inboxPrefix+token(who)+".x")
		for _, verb := range []string{"next.CPU", "next.H200", "extend", "done", "return", "result"} {
			list = append(list, "ask."+token(who)+"."+verb)
		}
	}
	for _, device := range []string{"CPU", "H200"} {
		consumer := jobsStream + "." + consumerName(device)
		for seq := range 4 {
			list = append(list, fmt.Sprintf("$JS.ACK.%s.1.%d.%d.1700000000000000000.0", consumer, seq, seq))
		}
		for _, op := range []string{
			"CONSUMER.MSG.NEXT", "CONSUMER.INFO", "CONSUMER.DELETE", "CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.PAUSE",
			"CONSUMER.RESET", "CONSUMER.UNPIN", "CONSUMER.LEADER.STEPDOWN",
		} {
			list = append(list, "$JS.API."+op+"."+consumer)
		}
	}
	list = append(list, "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.CREATE.EVIL", "$JS.API.STREAM.TEMPLATE.CREATE.EVIL",
		"$JS.API.CONSUMER.MSG.NEXT.RESULTS."+recorder, "$JS.ACK.RESULTS."+recorder+".1.1.1.1.1", "$JS.FC.x", "$KV.x.y", "$O.x")
	for _, stream := range []string{jobsStream, resultsStream} {
		for _, op := range []string{
			"STREAM.INFO", "STREAM.CREATE", "STREAM.UPDATE", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.GET", "STREAM.MSG.DELETE",
			"STREAM.SNAPSHOT", "STREAM.RESTORE", "STREAM.PEER.REMOVE", "CONSUMER.CREATE", "CONSUMER.NAMES", "CONSUMER.LIST", "DIRECT.GET",
		} {
			list = append(list, "$JS.API."+op+"."+stream)
		}
		list = append(list, "$JS.API.CONSUMER.CREATE."+stream+".evil", "$JS.API.CONSUMER.CREATE."+stream+".evil.jobs.>", "$JS.API.DIRECT.GET."+stream+".jobs.H200.a1")
	}
	return list
}

// payloads are what the subjects' listeners would act on.
func payloads() []string {
	return []string{
		`{}`, `+ACK`, `+TERM`, `-NAK`, `+NXT`, `a1`, `{"seq":1}`, `{"last_by_subj":"jobs.H200.a1"}`, `{"batch":1,"expires":1000000000}`, `not json`,
		`{"ack":"$JS.ACK.JOBS.device-H200.1.1.1.1700000000000000000.0","secret":"guessed"}`,
		`{"ack":"$JS.ACK.JOBS.device-CPU.1.2.2.1700000000000000000.0","secret":"guessed"}`,
		`{"name":"EVIL","subjects":["evil.>"],"mirror":{"name":"JOBS"},"storage":"memory"}`,
		`{"name":"EVIL","storage":"memory","sources":[{"name":"JOBS","external":{"api":"$JS.API","deliver":"heartbeats.gpu1"}}]}`,
		`{"stream_name":"JOBS","config":{"deliver_subject":"heartbeats.gpu1","ack_policy":"none","deliver_policy":"all"}}`,
		`{"stream_name":"JOBS","config":{"deliver_subject":"_INBOX_cpu1.x","ack_policy":"none","deliver_policy":"all","filter_subject":"jobs.H200.*"}}`,
	}
}

// replies are where an answer would do harm.
func replies() []string {
	list := []string{"", cancelSubject, "prepare.H200", "jobs.H200.fake", "jobs.CPU.fake", "$JS.API.STREAM.DELETE.JOBS", "$JS.API.STREAM.PURGE.JOBS",
		"$JS.ACK.JOBS.device-H200.1.1.1.1700000000000000000.0", "$JS.ACK.JOBS.device-CPU.1.2.2.1700000000000000000.0",
		inboxPrefix + token(thief) + ".own", inboxPrefix + token(thief) + "x.own", inboxPrefix + token(thief) + ".*", inboxPrefix + token(thief) + ".>"}
	for _, who := range []string{sibling, victim, "site", siteUser} {
		list = append(list, resultPrefix+token(who), eventPrefix+token(who), beatPrefix+token(who), inboxPrefix+token(who)+".x",
			"ask."+token(who)+".next.H200", "ask."+token(who)+".result")
	}
	return list
}

// TestAStolenSecretOfAWorkerReachesNobodyElse sends everything to everywhere, with every reply subject.
func TestAStolenSecretOfAWorkerReachesNobodyElse(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		publish(t, a.Queue, aJob("a1", "H200"), aJob("a2", "CPU"))
		theirs := []*Delivery{receive(t, a.worker(t, victim), "H200"), receive(t, a.worker(t, sibling), "CPU")}
		publish(t, a.Queue, aJob("b1", "H200"))
		before := standing(t, a.Queue)
		a.mu.Lock()
		clear(a.heard)
		a.mu.Unlock()

		spy, err := a.nc.Subscribe(">", func(m *nats.Msg) {
			if reaches(m.Subject, sibling) || reaches(m.Subject, victim) || m.Subject == cancelSubject || strings.HasPrefix(m.Subject, preparePrefix) {
				a.note("message to "+m.Subject, string(m.Data))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer spy.Unsubscribe()
		nc := a.raw(t)
		own, err := nc.Subscribe(inboxPrefix+token(thief)+".>", func(m *nats.Msg) {
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
				m.Data, m.Header = []byte(payload), nats.Header{"Nats-Trace-Dest": {beatPrefix + token(victim)}, "Nats-Msg-Id": {"b2"},
					"Nats-Rollup": {"all"}, "Nats-Schedule": {"@at 2020-01-01T00:00:00Z"}, "Nats-Schedule-Target": {"jobs.H200.x"}}
				nc.PublishMsg(m)
			}
			if err := nc.Flush(); err != nil {
				t.Fatalf("%s: %v", subject, err)
			}
		}
		settle(t, a)

		a.mu.Lock()
		for what := range a.heard {
			if !strings.HasSuffix(what, " of "+thief) {
				t.Errorf("the site heard a %.300s", what)
			}
		}
		a.mu.Unlock()
		if diff := cmp.Diff(before, standing(t, a.Queue)); diff != "" {
			t.Errorf("the streams changed (-before +after):\n%s", diff)
		}
		publish(t, a.Queue, aJob("b2", "H200"))
		for _, want := range []string{"b1", "b2"} {
			if d := receive(t, a.worker(t, victim), "H200"); d.Job.AttemptID != want {
				t.Errorf("the victim received %q, want %s", d.Job.AttemptID, want)
			}
		}
		for _, d := range theirs {
			done(t, d)
		}
	})
}

// reaches reports whether a subject is one of the worker's own.
func reaches(subject, worker string) bool {
	return slices.Contains(strings.Split(subject, "."), token(worker)) || strings.HasPrefix(subject, inboxPrefix+token(worker)+".")
}

// settle waits until the site has dealt with all that the thief sent: its last heartbeat is heard.
func settle(t *testing.T, a *attacked) {
	t.Helper()
	a.mu.Lock()
	delete(a.heard, "heartbeat of "+thief)
	a.mu.Unlock()
	nc := a.raw(t)
	for deadline := time.Now().Add(20 * time.Second); ; {
		if err := nc.Publish(beatPrefix+token(thief), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		a.mu.Lock()
		heard := a.heard["heartbeat of "+thief]
		a.mu.Unlock()
		if heard {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the site does not hear the thief's own heartbeat")
		}
	}
}

// standing is what the streams hold and who works on it.
func standing(t *testing.T, q *Queue) map[string]string {
	t.Helper()
	out := map[string]string{}
	names := q.js.StreamNames(t.Context())
	for name := range names.Name() {
		out[name] = ""
	}
	stream, err := q.js.Stream(t.Context(), jobsStream)
	if err != nil {
		t.Fatal(err)
	}
	out[jobsStream] = fmt.Sprintf("%d messages, %d consumers", stream.CachedInfo().State.Msgs, stream.CachedInfo().State.Consumers)
	for _, device := range []string{"CPU", "H200"} {
		consumer, err := stream.Consumer(t.Context(), consumerName(device))
		if err != nil {
			t.Fatal(err)
		}
		info := consumer.CachedInfo()
		out[device] = fmt.Sprintf("%d in flight, %d waiting, %d delivered again", info.NumAckPending, info.NumPending, info.NumRedelivered)
	}
	return out
}
