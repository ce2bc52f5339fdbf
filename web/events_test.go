package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/site"
	"warpboard/web/stream"
)

func TestWatchingSurvivesServerRestartsWithoutLossOrDoubles(t *testing.T) {
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	api := s.api(s.user)
	w := newWorker(t, s.testSite, run)
	at := s.site.Settings.Addr

	var seen []int64
	progress := make(chan int, 1000)
	watched := make(chan error, 1)
	go func() {
		watched <- api.Watch(context.Background(), run.SubmissionID, 0, func(e client.Event) error {
			seen = append(seen, e.ID)
			progress <- len(seen)
			return nil
		})
	}()
	running := s.testSite
	for round := range 3 {
		for i := range 100 {
			w.log(fmt.Sprintf("round %d line %d\n", round, i))
		}
		for <-progress < (round+1)*40 { // the watcher is somewhere in the middle when the server goes
		}
		running.stop()
		w.log("told while no server is there\n")
		running = startSiteAt(t, at, s.site.Store)
		w.hub.Store(running.site.Hub)
	}
	w.finish()
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(storedIDs(t, s.site.Store, run.SubmissionID), seen); diff != "" {
		t.Errorf("stored events (-) and those seen (+) differ:\n%s", diff)
	}
}

func TestLastEventIDResumesBetweenStoredAndLiveEvents(t *testing.T) {
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	w := newWorker(t, s.testSite, run)
	for i := range 20 {
		w.say(job.Event{Type: job.EventCase, Stage: job.StageTest, Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	path := fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID)
	all := storedIDs(t, s.site.Store, run.SubmissionID)

	first := s.open(path, "")
	seen := first.want(7)
	first.cancel()
	again := s.open(path+"?after=0", fmt.Sprint(seen[len(seen)-1]))
	seen = append(seen, again.want(len(all)-7)...)
	for i := range 5 { // now they come live
		w.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	w.finish()
	seen = append(seen, again.want(6)...)
	if diff := cmp.Diff(storedIDs(t, s.site.Store, run.SubmissionID), seen); diff != "" {
		t.Errorf("stored events (-) and those seen (+) differ:\n%s", diff)
	}
	if e, ok := again.next(); !ok || e.name != "end" {
		t.Errorf("after the last event came %+v", e)
	}
	if e, ok := again.next(); ok {
		t.Errorf("after the end came %+v", e)
	}
	if e, _ := s.open(path, fmt.Sprint(seen[len(seen)-1])).next(); e.name != "end" {
		t.Errorf("a reader that comes after the end is told %+v", e)
	}
}

func TestPageStreamStartsAfterWhatThePageShows(t *testing.T) {
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	w := newWorker(t, s.testSite, run)
	w.say(job.Event{Type: job.EventTaken})
	all := storedIDs(t, s.site.Store, run.SubmissionID)
	r := s.open(fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID, all[len(all)-1]), "")
	w.say(job.Event{Type: job.EventStage, Stage: job.StageBuild})
	e, ok := r.next()
	if !ok || e.id <= all[len(all)-1] || e.name != "" || !strings.Contains(e.data, "<") {
		t.Errorf("the page got %+v, want the stage's HTML as a message without a name", e)
	}
}

func TestOthersDoNotSeeWhatAProgramPrints(t *testing.T) {
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), s.user.ID, "own", 0)
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID)
	visitor, own := s.open(path, ""), s.open(path, "", "Authorization", "Bearer "+secret)
	w := newWorker(t, s.testSite, run)
	w.log("secret line of the source\n")
	w.finish()
	for name, r := range map[string]*reader{"visitor": visitor, "own": own} {
		var text strings.Builder
		for e, ok := r.next(); ok; e, ok = r.next() {
			text.WriteString(e.data)
		}
		if got, want := strings.Contains(text.String(), "secret line"), name == "own"; got != want {
			t.Errorf("%s sees the output: %v, want %v", name, got, want)
		}
		if strings.Contains(text.String(), w.attempt.Secret) {
			t.Errorf("%s sees the attempt's secret", name)
		}
	}
}

func TestBoardStreamTellsChangesSinceThePageWasMade(t *testing.T) {
	s := newStage(t)
	path := fmt.Sprintf("/boards/%d/CPU/events", s.task.VersionID)
	s.tell(modelstest.Finish(t, s.site.Store, modelstest.Submit(t, s.site.Store, s.user, s.task)[0], 100))
	missed := s.open(path+"?after=0", "")
	if e, _ := missed.next(); e.name != "board" || e.data != "1" || e.id != 1 {
		t.Errorf("a page that missed the first change is told %+v", e)
	}
	current := s.open(path+"?after=1", "")
	s.tell(modelstest.Finish(t, s.site.Store, modelstest.Submit(t, s.site.Store, s.user, s.task)[0], 50))
	for _, r := range []*reader{missed, current} {
		if e, _ := r.next(); e.name != "board" || e.data != "2" {
			t.Errorf("the second change came as %+v", e)
		}
	}
}

func TestQueueStreamTellsEveryChange(t *testing.T) {
	s := startSite(t)
	r := s.open("/devices/events", "")
	r.want(1) // each connection begins with one
	s.site.Hub.QueueChanged()
	if e, _ := r.next(); e.name != "queue" {
		t.Errorf("the change came as %+v", e)
	}
}

func TestStoppingTheServerEndsOpenStreamsAtOnce(t *testing.T) {
	s := startSite(t)
	r := s.open("/devices/events", "")
	r.want(1)
	began := time.Now()
	s.stop()
	if took := time.Since(began); took >= shutdownGrace {
		t.Errorf("the server waited %v for an open stream", took)
	}
	if e, ok := r.next(); ok {
		t.Errorf("after the end came %+v", e)
	}
}

func TestALeftStreamIsForgotten(t *testing.T) {
	s := startSite(t)
	r := s.open("/devices/events", "")
	r.want(1)
	r.cancel()
	deadline := time.After(time.Minute) // it is forgotten at once, or never
	for s.site.Hub.StreamCount() > 0 {
		select {
		case <-deadline:
			t.Fatal("the stream stays open when its reader has left")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestStreamsOfHiddenTasksAreHidden(t *testing.T) {
	s := newStage(t)
	run := modelstest.Submit(t, s.site.Store, s.user, s.task)[0]
	s.hide(s.task)
	for _, path := range []string{"/submissions/%d/events", "/api/v1/submissions/%d/events"} {
		wantStatus(t, s.browser().get(fmt.Sprintf(path, run.SubmissionID)), http.StatusNotFound)
	}
	wantStatus(t, s.browser().get(fmt.Sprintf("/boards/%d/CPU/events", s.task.VersionID)), http.StatusNotFound)
}

func TestFrameKeepsEveryLineInsideTheEvent(t *testing.T) {
	got := string(stream.Frame(7, "x", []byte("a\nb\r\nc\rid: 9\n\nevent: evil")))
	want := "id: 7\nevent: x\ndata: a\ndata: b\ndata: c\ndata: id: 9\ndata: \ndata: event: evil\n\n"
	if got != want {
		t.Errorf("frame is %q, want %q", got, want)
	}
}

func TestStreamEndsWithTheSignInThatItWasOpenedWith(t *testing.T) {
	s := startSite(t, func(cfg *Config) { cfg.Heartbeat = time.Millisecond })
	ada := modelstest.Person(t, s.site.Store, "ada", accounts.RoleUser)
	task := modelstest.Task(t, s.site.Store, modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator), "vectoradd", "CPU")
	run := modelstest.Submit(t, s.site.Store, ada, task)[0]
	path := fmt.Sprintf("/submissions/%d/events", run.SubmissionID)
	secret, session, err := s.site.Store.Accounts.StartSession(t.Context(), accounts.NewSession{UserID: ada.ID, Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	key, token, err := s.site.Store.Accounts.CreateToken(t.Context(), ada.ID, "lost", 0)
	if err != nil {
		t.Fatal(err)
	}
	visitor := s.open(path, "")
	ended := map[string]*reader{
		"session": s.open(path, "", "Cookie", site.SessionCookie+"="+secret),
		"token":   s.open("/api/v1"+path, "", "Authorization", "Bearer "+key),
	}
	for _, r := range ended {
		r.want(1) // it is open
	}
	if err := errors.Join(s.site.Store.Accounts.EndSession(t.Context(), ada.ID, session.ID), s.site.Store.Accounts.RevokeToken(t.Context(), ada.ID, token.ID)); err != nil {
		t.Fatal(err)
	}
	for name, r := range ended {
		late := time.AfterFunc(time.Minute, func() { t.Errorf("the stream outlives its %s", name); r.cancel() })
		defer late.Stop()
		if e, ok := r.next(); ok {
			t.Errorf("after its %s was revoked, a reader is told %+v", name, e)
		}
	}
	visitor.want(1)
	newWorker(t, s, run).say(job.Event{Type: job.EventTaken})
	visitor.want(1)
}
