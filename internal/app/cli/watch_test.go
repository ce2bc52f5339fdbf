package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
)

// ranked are the events of a ranked run of three cases, each of which passes in two processes.
func ranked() (all []client.Event) {
	add := func(state string, d *job.Event) {
		all = append(all, client.Event{ID: int64(len(all) + 1), Device: "CPU", State: state, Detail: d})
	}
	add("queued", nil)
	add("running", &job.Event{Type: job.EventStage, Stage: job.StageRanked, Total: 3})
	for range 2 {
		for i := range 3 {
			add("running", &job.Event{Type: job.EventCase, Stage: job.StageRanked, Total: 3, Case: &job.CaseResult{Index: i, Spec: fmt.Sprint("n: ", i), Status: job.StatusPass}})
		}
	}
	add("done", nil)
	return all
}

// watched makes the world's site have submission 7, whose run has ended, and a board.
func (w *world) watched(run client.Run, board client.Board) {
	sub := client.Submission{ID: 7, Task: "sum", Version: 1, Mode: job.ModeRanked, User: client.User{ID: 3, Name: "Ada"}, Ended: true, Runs: []client.Run{run}}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case r.URL.Path == "/api/v1/submissions/7":
			answer = sub
		case r.URL.Path == "/api/v1/boards/sum/CPU" && r.URL.Query().Get("page") == "2":
			answer = board
		case r.URL.Path == "/api/v1/boards/sum/CPU":
			answer = client.Board{Version: 1, Total: 101, Entries: []client.Entry{{Rank: 1, User: client.User{ID: 9}}}}
		case strings.HasSuffix(r.URL.Path, "/events"):
			for _, e := range ranked() {
				text, _ := json.Marshal(e)
				fmt.Fprintf(rw, "id: %d\ndata: %s\n\n", e.ID, text)
			}
			fmt.Fprint(rw, "event: end\ndata: \n\n")
			return
		default:
			answer = map[string]any{"devices": []client.Device{}}
		}
		json.NewEncoder(rw).Encode(answer)
	})
}

func TestARankedRunEndsWithItsScoreItsRankAndItsBoard(t *testing.T) {
	score, low, high := 2000.0, 1900.0, 2100.0
	run := client.Run{ID: 5, Device: "CPU", State: "done", ScoreNS: &score, Interval: client.Interval{IntervalLow: &low, IntervalHigh: &high, Processes: 5, Noisy: true}}
	for name, c := range map[string]struct {
		entry client.Entry
		want  string
	}{
		"the best":     {client.Entry{Rank: 3, Tied: true, SubmissionID: 7, User: client.User{ID: 3, Name: "Ada"}}, "CPU    rank 3= of 101, the best of Ada"},
		"not the best": {client.Entry{Rank: 2, SubmissionID: 4, ScoreNS: 1500, User: client.User{ID: 3, Name: "Ada"}}, "CPU    rank 2 of 101; the best of Ada is submission 4 with 1.5µs"},
	} {
		w := newWorld(t)
		w.watched(run, client.Board{Version: 1, Total: 101, Entries: []client.Entry{c.entry}})
		if err := w.run(t, "watch", "7", "--server", w.URL); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"submission 7  " + w.URL + "/submissions/7", "CPU    queued", "CPU    ranked begins", "CPU    ranked process 1: all 3 cases pass", "CPU    ranked process 2: all 3 cases pass",
			"CPU    done  score 2µs (1.9µs to 2.1µs at 95 %, 5 processes) noisy", c.want + "  " + w.URL + "/tasks/sum/boards/CPU", "",
		}
		if diff := cmp.Diff(want, strings.Split(w.out.String(), "\n")); diff != "" {
			t.Errorf("%s (-want +printed):\n%s", name, diff)
		}
	}
}

func TestAnInterruptedWatchSaysThatTheSubmissionContinues(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			cancel()
		}
		<-r.Context().Done()
	})
	c := &connection{env: console.Environment{Getenv: func(name string) string { return w.vars[name] }, Stdout: &w.out, Stderr: &w.out}, server: w.URL}
	site, err := c.site()
	if err != nil {
		t.Fatal(err)
	}
	if err = console.Explain(c.watch(ctx, site, 7), w.URL, true); !errors.Is(err, context.Canceled) || console.ExitCode(err) != console.ExitStopped ||
		err.Error() != "stopped watching. Submission 7 continues: warpboard watch 7, warpboard cancel 7" {
		t.Errorf("exit %d: %v", console.ExitCode(err), err)
	}
}

// TestTheStatusLineIsNeverOlderThanTheLinesAboveIt: an answer that was asked for before an event does not replace what it said.
func TestTheStatusLineIsNeverOlderThanTheLinesAboveIt(t *testing.T) {
	var out bytes.Buffer
	s := &console.Screen{Out: &out, Terminal: true, Width: 80}
	w := newWatcher(s, nil, 1)
	queued := []client.Run{{Device: "CPU", State: "queued", Position: 1}}
	w.look(queued, []client.Device{{Device: "CPU", Slots: 1}}, nil)
	if s.Status != "CPU waits at place 1 of the queue" {
		t.Errorf("the status is %q", s.Status)
	}
	w.event(client.Event{Device: "CPU", State: "running", Detail: &job.Event{Type: job.EventStage, Stage: job.StageTest}})
	w.look(queued, []client.Device{{Device: "CPU", Slots: 1}}, nil)
	if s.Status != "CPU test" {
		t.Errorf("after the test has begun the status is %q", s.Status)
	}
}
