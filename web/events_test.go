package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func TestWatchingSurvivesServerRestartsWithoutLossOrDoubles(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	api := s.API(s.User)
	w := webtest.NewWorker(t, s.Site, run)
	at := s.Cfg.Settings.Addr

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
	running := s.Site
	for round := range 3 {
		for i := range 100 {
			w.Log(fmt.Sprintf("round %d line %d\n", round, i))
		}
		for <-progress < (round+1)*40 { // stop the server when the watcher has received 40 lines of this round
		}
		running.Stop()
		w.Log("told while no server is there\n")
		running = webtest.StartAt(t, at, s.Cfg.Store)
		w.Hub.Store(running.Cfg.Hub)
	}
	w.Finish()
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(storedIDs(t, s.Cfg.Store, run.SubmissionID), seen); diff != "" {
		t.Errorf("stored events (-) and those seen (+) differ:\n%s", diff)
	}
}

func TestLastEventIDResumesBetweenStoredAndLiveEvents(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	w := webtest.NewWorker(t, s.Site, run)
	for i := range 20 {
		w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageTest,
			Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	path := fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID)
	all := storedIDs(t, s.Cfg.Store, run.SubmissionID)

	first := s.Open(path, "")
	seen := first.Want(7)
	first.Cancel()
	again := s.Open(path+"?after=0", fmt.Sprint(seen[len(seen)-1]))
	seen = append(seen, again.Want(len(all)-7)...)
	for i := range 5 { // these events arrive live, not from the store
		w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark,
			Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	w.Finish()
	seen = append(seen, again.Want(6)...)
	if diff := cmp.Diff(storedIDs(t, s.Cfg.Store, run.SubmissionID), seen); diff != "" {
		t.Errorf("stored events (-) and those seen (+) differ:\n%s", diff)
	}
	if e, ok := again.Next(); !ok || e.Name != "end" {
		t.Errorf("after the last event came %+v", e)
	}
	if e, ok := again.Next(); ok {
		t.Errorf("after the end came %+v", e)
	}
	if e, _ := s.Open(path, fmt.Sprint(seen[len(seen)-1])).Next(); e.Name != "end" {
		t.Errorf("a reader that comes after the end is told %+v", e)
	}
}

func TestPageStreamStartsAfterWhatThePageShows(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	w := webtest.NewWorker(t, s.Site, run)
	w.Say(job.Event{Type: job.EventAttemptStarted})
	all := storedIDs(t, s.Cfg.Store, run.SubmissionID)
	r := s.Open(fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID, all[len(all)-1]), "")
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild})
	e, ok := r.Next()
	if !ok || e.ID <= all[len(all)-1] || e.Name != "" || !strings.Contains(e.Data, "<") {
		t.Errorf("the page got %+v, want the stage's HTML as a message without a name", e)
	}
}

func TestOthersDoNotSeeWhatAProgramPrints(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.User.ID, "own", 0)
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID)
	visitor, own := s.Open(path, ""), s.Open(path, "", "Authorization", "Bearer "+secret)
	w := webtest.NewWorker(t, s.Site, run)
	w.Log("secret line of the source\n")
	w.Finish()
	for name, r := range map[string]*webtest.Reader{"visitor": visitor, "own": own} {
		var text strings.Builder
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			text.WriteString(e.Data)
		}
		if got, want := strings.Contains(text.String(), "secret line"), name == "own"; got != want {
			t.Errorf("%s sees the output: %v, want %v", name, got, want)
		}
		if strings.Contains(text.String(), w.Attempt.Secret) {
			t.Errorf("%s sees the attempt's secret", name)
		}
	}
}

func TestBoardStreamTellsChangesSinceThePageWasMade(t *testing.T) {
	s := webtest.NewStage(t)
	path := fmt.Sprintf("/boards/%d/CPU/events", s.Task.VersionID)
	s.Tell(modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0], 100))
	missed := s.Open(path+"?after=0", "")
	if e, _ := missed.Next(); e.Name != "board" || e.Data != "1" || e.ID != 1 {
		t.Errorf("a page that missed the first change is told %+v", e)
	}
	current := s.Open(path+"?after=1", "")
	s.Tell(modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0], 50))
	for _, r := range []*webtest.Reader{missed, current} {
		if e, _ := r.Next(); e.Name != "board" || e.Data != "2" {
			t.Errorf("the second change came as %+v", e)
		}
	}
}

func TestQueueStreamTellsEveryChange(t *testing.T) {
	s := webtest.Start(t)
	r := s.Open("/devices/events", "")
	r.Want(1) // each new connection receives one event first
	s.Cfg.Hub.QueueChanged()
	if e, _ := r.Next(); e.Name != "queue" {
		t.Errorf("the change came as %+v", e)
	}
}

func TestStoppingTheServerEndsOpenStreamsAtOnce(t *testing.T) {
	s := webtest.Start(t)
	r := s.Open("/devices/events", "")
	r.Want(1)
	began := time.Now()
	s.Stop()
	if took := time.Since(began); took >= web.ShutdownGrace {
		t.Errorf("the server waited %v for an open stream", took)
	}
	if e, ok := r.Next(); ok {
		t.Errorf("after the end came %+v", e)
	}
}

func TestALeftStreamIsForgotten(t *testing.T) {
	s := webtest.Start(t)
	r := s.Open("/devices/events", "")
	r.Want(1)
	r.Cancel()
	tier.Until(t, "the end of the stream of a reader that has left",
		func() bool { return s.Cfg.Hub.StreamCount() == 0 })
}

func TestStreamsOfHiddenTasksAreHidden(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	s.Hide(s.Task)
	for _, path := range []string{"/submissions/%d/events", "/api/v1/submissions/%d/events"} {
		webtest.WantStatus(t, s.Browser().Get(fmt.Sprintf(path, run.SubmissionID)), http.StatusNotFound)
	}
	webtest.WantStatus(t, s.Browser().Get(fmt.Sprintf("/boards/%d/CPU/events", s.Task.VersionID)), http.StatusNotFound)
}

func TestFrameKeepsEveryLineInsideTheEvent(t *testing.T) {
	got := string(conns.FormatEvent(7, "x", []byte("a\nb\r\nc\rid: 9\n\nevent: evil")))
	want := "id: 7\nevent: x\ndata: a\ndata: b\ndata: c\ndata: id: 9\ndata: \ndata: event: evil\n\n"
	if got != want {
		t.Errorf("frame is %q, want %q", got, want)
	}
}

func TestStreamEndsWithTheSignInThatItWasOpenedWith(t *testing.T) {
	s := webtest.Start(t, func(cfg *web.Config) { cfg.Heartbeat = time.Millisecond })
	ada := modelstest.Person(t, s.Cfg.Store, "ada", accounts.RoleUser)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator),
		"vectoradd", "CPU")
	run := modelstest.Submit(t, s.Cfg.Store, ada, task)[0]
	path := fmt.Sprintf("/submissions/%d/events", run.SubmissionID)
	secret, session, err := s.Cfg.Store.Accounts.StartSession(t.Context(),
		accounts.NewSession{UserID: ada.ID, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	key, token, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), ada.ID, "lost", 0)
	if err != nil {
		t.Fatal(err)
	}
	visitor := s.Open(path, "")
	ended := map[string]*webtest.Reader{
		"session": s.Open(path, "", "Cookie", site.SessionCookie+"="+secret),
		"token":   s.Open("/api/v1"+path, "", "Authorization", "Bearer "+key),
	}
	for _, r := range ended {
		r.Want(1) // the first event shows that the stream is open
	}
	if err := errors.Join(s.Cfg.Store.Accounts.EndSession(t.Context(), ada.ID, session.ID),
		s.Cfg.Store.Accounts.RevokeToken(t.Context(), ada.ID, token.ID)); err != nil {
		t.Fatal(err)
	}
	for name, r := range ended {
		late := time.AfterFunc(time.Minute, func() { t.Errorf("the stream outlives its %s", name); r.Cancel() })
		defer late.Stop()
		if e, ok := r.Next(); ok {
			t.Errorf("after its %s was revoked, a reader is told %+v", name, e)
		}
	}
	visitor.Want(1)
	webtest.NewWorker(t, s, run).Say(job.Event{Type: job.EventAttemptStarted})
	visitor.Want(1)
}
