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

// ranked returns the events of a ranked run of three cases, each of which passes in two processes.
func ranked() (all []client.Event) {
	add := func(state string, d *job.Event) {
		all = append(all, client.Event{ID: int64(len(all) + 1), Device: "CPU", State: state, Detail: d})
	}
	add("queued", nil)
	add("running", &job.Event{Type: job.EventStageStarted, Stage: job.StageRanked, CaseCount: 3})
	for range 2 {
		for i := range 3 {
			add("running", &job.Event{Type: job.EventCaseEnded, Stage: job.StageRanked, CaseCount: 3,
				Case: &job.CaseResult{Index: i, SpecLine: fmt.Sprint("n: ", i), Status: job.StatusPass}})
		}
	}
	add("done", nil)
	return all
}

// watched makes the site have submission 7 with a run that has ended.
func (w *world) watched(run client.Run) {
	sub := client.Submission{ID: 7, Task: "sum", Version: 1, Mode: job.ModeRanked,
		User: client.User{ID: 3, Name: "Ada"}, Ended: true, Runs: []client.Run{run}}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case r.URL.Path == "/api/v1/submissions/7":
			answer = sub
		case r.URL.Path == "/api/v1/me":
			answer = w.me
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

func TestARankedRunEndsWithItsScoreWhatItMeansAndItsBoard(t *testing.T) {
	score, low, high := 2000.0, 1900.0, 2100.0
	run := client.Run{ID: 5, Device: "CPU", State: "done", ScoreNS: &score,
		Interval: client.Interval{IntervalLow: &low, IntervalHigh: &high, Processes: 5, Noisy: true}}
	ada, ben := client.User{ID: 3, Name: "Ada"}, client.User{ID: 4, Name: "Ben"}
	for want, c := range map[string]struct {
		reader client.User
		client.Outcome
	}{
		"CPU    5th → tied 3rd on CPU. 1.50× faster than your previous best (#4). 5.3 % behind Ben (2nd)": {ada,
			client.Outcome{Rank: 3, Tied: true, IsEntry: true, BestRun: 3, BestSubmission: 4, BestNS: 3000, BestRank: 5,
				NextRun: 2, NextUser: "Ben", NextNS: 1900, NextRank: 2}},
		"CPU    Your entry stays 2nd on CPU. This run is 1.33× slower than your entry (#4)": {ada,
			client.Outcome{Rank: 2, BestRun: 3, BestSubmission: 4, BestNS: 1500, BestRank: 2}},
		"CPU    Their entry stays 3rd on CPU. This run is 1.33× slower than their entry (#4)": {ben,
			client.Outcome{Rank: 3, BestRun: 3, BestSubmission: 4, BestNS: 1500, BestRank: 3}},
	} {
		w := newWorld(t)
		w.me, run.Outcome = c.reader, &c.Outcome
		w.watched(run)
		if err := w.run(t, "watch", "7", "--server", w.URL); err != nil {
			t.Fatal(err)
		}
		all := []string{
			"submission 7  " + w.URL + "/submissions/7", "CPU    queued", "CPU    ranked begins",
			"CPU    ranked process 1: all 3 cases pass", "CPU    ranked process 2: all 3 cases pass",
			"CPU    done  score 2.000 µs (1.900 µs to 2.100 µs at 95 %, 5 processes) noisy", want,
			"CPU    " + w.URL + "/tasks/sum/boards/CPU", "",
		}
		if diff := cmp.Diff(all, strings.Split(w.out.String(), "\n")); diff != "" {
			t.Errorf("(-want +printed):\n%s", diff)
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
	c := &connection{env: console.Environment{Getenv: func(name string) string { return w.vars[name] }, Stdout: &w.out,
		Stderr: &w.out}, server: w.URL}
	site, err := c.site()
	if err != nil {
		t.Fatal(err)
	}
	if err = console.ExplainError(c.watch(ctx, site, 7), w.URL, true); !errors.Is(err, context.Canceled) ||
		console.ExitCode(err) != console.ExitInterrupted ||
		err.Error() != "stopped watching. Submission 7 continues: warpboard watch 7, warpboard cancel 7" {
		t.Errorf("exit %d: %v", console.ExitCode(err), err)
	}
}

// TestTheStatusLineIsNeverOlderThanTheLinesAboveIt checks that a response does not replace the state from an event that
// is newer than the request.
func TestTheStatusLineIsNeverOlderThanTheLinesAboveIt(t *testing.T) {
	var out bytes.Buffer
	s := &console.Screen{Out: &out, IsTerminal: true, Width: 80}
	w := newWatcher(s, nil, 1)
	queued := []client.Run{{Device: "CPU", State: "queued", QueuePosition: 1}}
	w.printChanges(queued, []client.Device{{Device: "CPU", Slots: 1}}, nil)
	if s.StatusLine != "CPU waits at place 1 of the queue" {
		t.Errorf("the status is %q", s.StatusLine)
	}
	w.printEvent(client.Event{Device: "CPU", State: "running",
		Detail: &job.Event{Type: job.EventStageStarted, Stage: job.StageTest}})
	w.printChanges(queued, []client.Device{{Device: "CPU", Slots: 1}}, nil)
	if s.StatusLine != "CPU test" {
		t.Errorf("after the test has begun the status is %q", s.StatusLine)
	}
}
