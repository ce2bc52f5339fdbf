package popcorn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
)

// timedEvent is the name of an event, and the time from the start until it arrived.
type timedEvent struct {
	name string
	at   time.Duration
}

// followed streams a submission until the stream ends, and returns the events with their times. look returns the
// submission's runs.
func followed(t *testing.T, hub *conns.Hub, look func(context.Context) ([]work.Run, error)) (events []timedEvent) {
	t.Helper()
	here, there := net.Pipe()
	began := time.Now()
	f := &follower{id: 7, pageURL: "https://site/submissions/7", startedAt: began, currentState: work.StateQueued,
		readRuns:   look,
		makeResult: func(context.Context) (resultEvent, error) { return resultEvent{}, nil }}
	source := f.streamSource(statusInterval)
	source.Reauthorize = func(context.Context) error { return nil }
	go func() {
		out := conns.NewWriter(there, nil, false)
		_ = source.SendStream(t.Context(), hub, out) // the last event shows the error
		out.Finish()
		there.Close()
	}()
	lines := bufio.NewReader(here)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			events = append(events, timedEvent{strings.TrimSpace(name), time.Since(began)})
		} else if !strings.HasPrefix(line, "data: {") && line != "\n" {
			t.Errorf("popcorn-cli does not know the line %q", line)
		}
	}
}

func names(events []timedEvent) (all []string) {
	for _, e := range events {
		all = append(all, e.name)
	}
	return all
}

// TestAStatusComesEveryFifteenSeconds checks the interval for an idle run, and while the store does not respond.
func TestAStatusComesEveryFifteenSeconds(t *testing.T) {
	for name, look := range map[string]func(context.Context) ([]work.Run, error){
		"an idle run": func(context.Context) ([]work.Run, error) { return []work.Run{{State: work.StateQueued}}, nil },
		"a store that does not answer": func(ctx context.Context) ([]work.Run, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			events := followed(t, conns.NewHub(), func(ctx context.Context) ([]work.Run, error) {
				if time.Since(began) > 10*time.Minute {
					return []work.Run{{State: work.StateDone}}, nil
				}
				return look(ctx)
			})
			last, longest := time.Duration(0), time.Duration(0)
			for _, e := range events {
				longest, last = max(longest, e.at-last), e.at
			}
			if longest > 15*time.Second || last < 10*time.Minute || events[len(events)-1].name != "result" {
				t.Errorf("%s: the longest silence is %v, and it ended after %v with %q", name, longest, last,
					events[len(events)-1].name)
			}
		})
	}
}

// TestAStatusComesWhenTheStateChanges checks that a new state is sent at once, and that further events in the same
// state send nothing.
func TestAStatusComesWhenTheStateChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, state := conns.NewHub(), atomic.Value{}
		state.Store(work.StateQueued)
		tell := func(to work.RunState) {
			state.Store(to)
			hub.Publish(site.RunTopic(7), conns.Message{Event: &site.SharedEvent{RunEvent: work.RunEvent{State: to}}})
			synctest.Wait()
		}
		go func() {
			time.Sleep(time.Second)
			for range 100 {
				tell(work.StateTesting)
			}
			time.Sleep(time.Second)
			tell(work.StateDone)
		}()
		events := followed(t, hub, func(context.Context) ([]work.Run, error) {
			return []work.Run{{State: state.Load().(work.RunState)}}, nil
		})
		if got := strings.Join(names(events), " "); got != "status status status result" ||
			events[1].at != time.Second || events[3].at != 2*time.Second {
			t.Errorf("it was told %v", events)
		}
	})
}

// TestAStreamThatLastsTooLongSaysWhereItGoesOn checks that a stream that reaches the limit of 30 minutes ends with an
// error event.
func TestAStreamThatLastsTooLongSaysWhereItGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := followed(t, conns.NewHub(),
			func(context.Context) ([]work.Run, error) { return []work.Run{{State: work.StateQueued}}, nil })
		if last := events[len(events)-1]; last.name != "error" || last.at != 30*time.Minute {
			t.Errorf("it ended with %v", last)
		}
	})
}
