package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestSubmitWatchAndSeeTheBoardOverTheAPI(t *testing.T) {
	s := webtest.NewStage(t)
	api := s.API(s.User)
	tasks, err := api.Tasks(t.Context())
	if err != nil || len(tasks) != 1 || tasks[0].Slug != "vectoradd" {
		t.Fatalf("tasks: %+v, %v", tasks, err)
	}
	task, err := api.Task(t.Context(), "vectoradd")
	if err != nil || task.Description == "" || task.Version != 1 || len(task.Tests) != 1 {
		t.Fatalf("task: %+v, %v", task, err)
	}
	sub, err := api.Submit(t.Context(), kernel())
	if err != nil {
		t.Fatal(err)
	}
	if len(sub.Runs) != 1 || sub.Runs[0].State != "queued" || sub.Runs[0].QueuePosition != 1 || sub.Ended ||
		sub.User.Name != "ada" {
		t.Errorf("submitted: %+v", sub)
	}
	run, err := s.Cfg.Store.Work.Run(t.Context(), sub.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	s.Tell(modelstest.Finish(t, s.Cfg.Store, run, 1234.5))

	var last client.Event
	if err := api.Watch(t.Context(), sub.ID, 0, func(e client.Event) error { last = e; return nil }); err != nil {
		t.Fatal(err)
	}
	if last.State != "done" || last.ScoreNS == nil || *last.ScoreNS != 1234.5 {
		t.Errorf("the last event is %+v", last)
	}
	done, err := api.Submission(t.Context(), sub.ID)
	if err != nil || !done.Ended || len(done.Runs[0].Stages) != 4 || *done.Runs[0].ScoreNS != 1234.5 {
		t.Errorf("after the run: %+v, %v", done, err)
	}
	board, err := s.API(accounts.User{}).Board(t.Context(), "vectoradd", "CPU", 1)
	if err != nil || board.Total != 1 {
		t.Fatalf("board: %+v, %v", board, err)
	}
	if first := board.Entries[0]; first.User.Name != "ada" || first.ScoreNS != 1234.5 || first.Rank != 1 {
		t.Errorf("the first entry is %+v", first)
	}
}

func TestRefusalsOfTheAPI(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H200")
	s.Close(modelstest.Task(t, s.Cfg.Store, s.Creator, "closed", "CPU"))
	s.Hide(modelstest.Task(t, s.Cfg.Store, s.Creator, "hidden", "CPU"))
	tests := []struct {
		name   string
		in     func(*client.NewSubmission)
		status int
	}{
		{"no such task", func(in *client.NewSubmission) { in.Task = "nothing" }, 404},
		{"hidden task", func(in *client.NewSubmission) { in.Task = "hidden" }, 404},
		{"no task", func(in *client.NewSubmission) { in.Task = "" }, 422},
		{"deadline passed", func(in *client.NewSubmission) { in.Task = "closed" }, 403},
		{"device not offered", func(in *client.NewSubmission) { in.Devices = []string{"T4"} }, 422},
		{"no device and several offered", func(in *client.NewSubmission) { in.Devices = nil }, 422},
		{"unknown mode", func(in *client.NewSubmission) { in.Mode = "fast" }, 422},
		{"empty file", func(in *client.NewSubmission) { in.Source = "" }, 422},
		{"too large", func(in *client.NewSubmission) { in.Source = strings.Repeat("/", 1_000_001) }, 422},
		{"another language", func(in *client.NewSubmission) { in.FileName = "kernel.py" }, 422},
		{"unknown directive", func(in *client.NewSubmission) { in.Source = "#!POPCORN nonsense\n" }, 422},
		{"directive for another task",
			func(in *client.NewSubmission) { in.Source = "//!POPCORN leaderboard softmax\n" }, 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.API(s.User).Submit(t.Context(), kernel(tt.in))
			var p *client.Problem
			if !errors.As(err, &p) || p.Status != tt.status || p.Code == "" || p.Detail == "" {
				t.Errorf("the answer is %+v, want a problem with status %d", err, tt.status)
			}
		})
	}
	if _, err := s.API(accounts.User{}).Submit(t.Context(), kernel()); !isProblem(err, "unauthorized") {
		t.Errorf("a visitor's submission: %v", err)
	}
	if _, err := client.New(s.URL, "wb_wrong").Tasks(t.Context()); !isProblem(err, "unauthorized") {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestUsedUpLimitSaysWhenToComeAgain(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{
		Dir:              t.TempDir(),
		SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := webtest.StartAt(t, "127.0.0.1:0", store)
	modelstest.Task(t, store, modelstest.Person(t, store, "creator", accounts.RoleCreator), "vectoradd", "CPU")
	api := s.API(modelstest.Person(t, store, "ada", accounts.RoleUser))
	if _, err := api.Submit(t.Context(), kernel()); err != nil {
		t.Fatal(err)
	}
	_, err = api.Submit(t.Context(), kernel())
	var p *client.Problem
	if !errors.As(err, &p) || p.Status != http.StatusTooManyRequests || p.RetryAfter < time.Minute ||
		p.RetryAfter > time.Hour {
		t.Errorf("the second submission: %+v (Retry-After %v)", err, p.RetryAfter)
	}
}

func TestDirectivesFillInWhatTheRequestLeavesOpen(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H200")
	sub, err := s.API(s.User).Submit(t.Context(), kernel(func(in *client.NewSubmission) {
		in.Task, in.Devices, in.Mode = "", nil, ""
		in.Source = "//!POPCORN leaderboard VectorAdd\n//!POPCORN gpus h200 cpu\n"
	}))
	if err != nil {
		t.Fatal(err)
	}
	if sub.Task != "vectoradd" || sub.Mode != job.ModeTest || len(sub.Runs) != 2 || sub.Runs[0].Device != "H200" {
		t.Errorf("submitted %+v", sub)
	}
	sub, err = s.API(s.User).Submit(t.Context(), kernel(func(in *client.NewSubmission) {
		in.Source = "//!POPCORN gpus H200\n"
	}))
	if err != nil || len(sub.Runs) != 1 || sub.Runs[0].Device != "CPU" {
		t.Errorf("the request's device must win: %+v, %v", sub, err)
	}
}

func TestSubmittingAForm(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H200")
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	w.WriteField("task", "vectoradd")
	w.WriteField("devices", "CPU,H200")
	w.WriteField("mode", "leaderboard")
	file, err := w.CreateFormFile("file", "mine.cpp")
	if err != nil {
		t.Fatal(err)
	}
	file.Write([]byte("int y;"))
	w.Close()
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.User.ID, "form", 0)
	if err != nil {
		t.Fatal(err)
	}
	resp := s.Browser().Send(http.MethodPost, "/api/v1/submissions", &form,
		"Content-Type", w.FormDataContentType(), "Authorization", "Bearer "+secret)
	webtest.WantStatus(t, resp, http.StatusCreated)
	var sub client.Submission
	webtest.DecodeBody(t, resp, &sub)
	if sub.FileName != "mine.cpp" || sub.Mode != job.ModeRanked || len(sub.Runs) != 2 {
		t.Errorf("submitted %+v", sub)
	}
}

func TestOthersOutputIsHiddenUntilTheDeadline(t *testing.T) {
	s := webtest.NewStage(t)
	run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
	attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), run.WorkRef())
	if err != nil {
		t.Fatal(err)
	}
	result := modelstest.Result(attempt, 10)
	result.Stages[0].Stderr = "kernel.cpp:1: secret line"
	if _, err := s.Cfg.Store.Work.RecordResult(t.Context(), result, work.ResultFindings{}); err != nil {
		t.Fatal(err)
	}
	sees := func(user accounts.User) bool {
		sub, err := s.API(user).Submission(t.Context(), run.SubmissionID)
		if err != nil {
			t.Fatal(err)
		}
		return sub.Runs[0].Stages[0].Stderr != ""
	}
	other := modelstest.Person(t, s.Cfg.Store, "bob", accounts.RoleUser)
	if !sees(s.User) || sees(other) || sees(accounts.User{}) {
		t.Errorf("before the deadline: own %v, other %v, visitor %v", sees(s.User), sees(other), sees(accounts.User{}))
	}
	s.Close(s.Task)
	if !sees(other) {
		t.Error("after the deadline it is still hidden")
	}
}

func TestCancellingStopsEveryRun(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H200")
	runs := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)
	attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), runs[0].WorkRef())
	if err != nil {
		t.Fatal(err)
	}
	other := modelstest.Person(t, s.Cfg.Store, "bob", accounts.RoleUser)
	if _, err := s.API(other).Cancel(t.Context(), runs[0].SubmissionID); !isProblem(err, "forbidden") {
		t.Errorf("someone else's cancel: %v", err)
	}
	sub, err := s.API(s.User).Cancel(t.Context(), runs[0].SubmissionID)
	if err != nil || !sub.Ended || sub.Runs[0].State != "cancelled" || sub.Runs[1].State != "cancelled" {
		t.Errorf("cancelled: %+v, %v", sub, err)
	}
	if answers := s.Queue; len(answers.Cancelled) != 1 || answers.Cancelled[0] != attempt.ID {
		t.Errorf("the queue was told %+v, want to stop attempt %s", answers, attempt.ID)
	}
	if _, err := s.API(s.User).Cancel(t.Context(), runs[0].SubmissionID); !isProblem(err, "conflict") {
		t.Errorf("cancelling twice: %v", err)
	}
}

func TestBoardAnswers304ExactlyWhileNothingChanged(t *testing.T) {
	s := webtest.NewStage(t)
	b := s.Browser()
	tag := b.Get("/api/v1/boards/vectoradd/CPU").Header.Get("ETag")
	webtest.WantStatus(t, b.Get("/api/v1/boards/vectoradd/CPU", "If-None-Match", tag), http.StatusNotModified)
	for _, score := range []float64{100, 90, 95} {
		run := modelstest.Submit(t, s.Cfg.Store, s.User, s.Task)[0]
		changed := modelstest.Finish(t, s.Cfg.Store, run, score).ChangedBoard != nil
		resp := b.Get("/api/v1/boards/vectoradd/CPU", "If-None-Match", tag)
		if got := resp.StatusCode == http.StatusOK; got != changed {
			t.Errorf("after a run of %v ns: %s, the board changed: %v", score, resp.Status, changed)
		}
		tag = resp.Header.Get("ETag")
	}
}

func TestVisitorsReadAndUnknownAddressesAreProblems(t *testing.T) {
	s := webtest.NewStage(t)
	slots := []job.Slot{{Device: "CPU"}, {Device: "CPU", AttemptID: "a"}, {Device: "H200", DisabledReason: "ECC errors"}}
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(), Slots: slots})
	var list struct{ Devices []client.Device }
	webtest.DecodeBody(t, s.Browser().Get("/api/v1/devices"), &list)
	want := []client.Device{{Device: "CPU", Slots: 2, Busy: 1},
		{Device: "H200", OutOfService: 1, Problem: "Worker w1: Out of service; the admins of this site see why."}}
	if diff := cmp.Diff(want, list.Devices); diff != "" {
		t.Errorf("devices want (-), got (+):\n%s", diff)
	}
	for _, path := range []string{"nothing", "tasks/nothing", "submissions/0", "submissions/x", "submissions/999",
		"boards/nothing/CPU"} {
		webtest.WantProblem(t, s.Browser().Get("/api/v1/"+path), http.StatusNotFound, "not_found")
	}
	webtest.WantProblem(t, s.Browser().Get("/api/v1/boards/vectoradd/CPU?version=x"), http.StatusUnprocessableEntity,
		"invalid_parameter")
}

func TestThereIsNoBoardOfADeviceThatATaskDoesNotHave(t *testing.T) {
	s := webtest.NewStage(t)
	b := s.Browser()
	for device, status := range map[string]int{"CPU": http.StatusOK, "H200": http.StatusNotFound,
		"cpus": http.StatusNotFound} {
		webtest.WantStatus(t, b.Get("/tasks/vectoradd/boards/"+device), status)
		webtest.WantStatus(t, b.Get("/api/v1/boards/vectoradd/"+device), status)
		webtest.WantStatus(t, b.Get(fmt.Sprintf("/boards/%d/%s/events", s.Task.VersionID, device)), status)
	}
	_, err := s.API(accounts.User{}).Board(t.Context(), "vectoradd", "H200", 1)
	if err == nil || !strings.Contains(err.Error(), "there are: CPU") {
		t.Errorf("the client says %v", err)
	}
}

func TestTheAPILeadsToTheProfileOfARun(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	for run, want := range map[*work.Run]string{&s.First: s.URL + webtest.ProfilePath(s.First), &s.Refused: ""} {
		var answer client.Submission
		webtest.DecodeBody(t, s.BrowserOf(s.Admin).Get(fmt.Sprintf("/api/v1/submissions/%d", run.SubmissionID)),
			&answer)
		if len(answer.Runs) == 0 || answer.Runs[0].Profile != want {
			t.Errorf("the profile is at %q, want %q", answer.Runs[0].Profile, want)
		}
	}
}

func TestNoRunOnACPUIsProfiled(t *testing.T) {
	s := webtest.NewStage(t)
	in := kernel()
	in.Mode = job.ModeProfile
	if _, err := s.API(s.User).Submit(t.Context(), in); webtest.Code(err) != "mode" {
		t.Errorf("a profile of a run on a CPU: %v", err)
	}
}
