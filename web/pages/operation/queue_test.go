package operation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestTheQueueHidesOtherPeoplesEvaluations checks that other people see that an evaluation uses the device, but not its
// person or its kernel, even if the evaluation is shared.
func TestTheQueueHidesOtherPeoplesEvaluations(t *testing.T) {
	s := webtest.NewScene(t)
	ask := func(kind string, shared bool) work.Evaluation {
		e, err := s.Cfg.Store.Work.SubmitEvaluation(t.Context(),
			work.NewEvaluation{User: s.Ada, Owner: fmt.Sprintf("user:%d", s.Ada.ID), Caller: "token:1",
				ReadableByAnyone: shared, Kind: kind, Device: "H200", Request: json.RawMessage(`{}`),
				Sources: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	taken, waits := ask("compare", true), ask("evaluate", false)
	attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), taken.WorkRef())
	if err == nil {
		_, err = s.Cfg.Store.Work.RecordAttemptsReceived(t.Context(), "rack-7", attempt.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc := s.Browser().Page("/devices", http.StatusOK)
	webtest.WantText(t, doc, "[data-device=H200] .card-head", "2 running, 2 waiting")
	webtest.WantText(t, doc, "[data-device=H200] [data-evaluation=compare]", "Comparison Building")
	webtest.WantText(t, doc, "[data-device=H200] [data-evaluation=evaluate]", "2 Evaluation Queued")
	webtest.WantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.Queued.ID), "1 Ranked #")
	if rows := doc.Find("[data-evaluation]"); rows.Length() != 2 || rows.Find("a").Length() != 0 ||
		strings.Contains(rows.Text(), s.Ada.Name) {
		t.Errorf("a stranger sees %q", webtest.Words(rows))
	}
	other := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Mallory", accounts.RoleUser)).Page("/devices",
		http.StatusOK)
	if rows := other.Find("[data-evaluation]"); rows.Find("a").Length() != 0 {
		t.Errorf("someone else sees %q", webtest.Words(rows))
	}
	for name, user := range map[string]accounts.User{"its caller": s.Ada, "an admin": s.Admin} {
		rows := s.BrowserOf(user).Page("/devices", http.StatusOK).Find("[data-evaluation=evaluate]")
		if link := rows.Find("td.num a").AttrOr("href", ""); link != "/evaluations/"+waits.ID {
			t.Errorf("%s is led to %q", name, link)
		}
		if strings.Contains(rows.Text(), s.Ada.Name) != (user.ID == s.Ada.ID) {
			t.Errorf("%s sees %q", name, webtest.Words(rows))
		}
	}
}

func TestTheQueueSaysThatARunIsNotPublic(t *testing.T) {
	s := webtest.NewScene(t)
	hidden := catalog.TaskSettings{Title: s.Task.Title, Devices: s.Task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, hidden); err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("[data-device=H200] [data-run='%d']", s.Queued.ID)
	webtest.WantText(t, s.Browser().Page("/devices", http.StatusOK), row, "1 not public Queued")
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/devices", http.StatusOK), row, "1 Ranked #")
}

func TestTheQueueSaysWhenLostWorkIsTriedAgain(t *testing.T) {
	s := webtest.NewScene(t)
	row := fmt.Sprintf("[data-device=H200] [data-run='%d']", s.Queued.ID)
	if doc := s.Browser().Page("/devices", http.StatusOK); strings.Contains(doc.Find(row).Text(), "tried again") {
		t.Error("a run that was never lost is said to be tried again")
	}
	for range 4 { // after each lost attempt, the next one waits longer
		attempt := s.Attempt(s.Queued)
		_, err := s.Cfg.Store.Work.RecordAttemptsReceived(t.Context(), "rack-7", attempt.ID)
		if err == nil {
			_, err = s.Cfg.Store.Work.FailAttempt(t.Context(), attempt.ID, "The worker rack-7 is gone.",
				work.LossRetriedAfterPause)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run, err := s.Cfg.Store.Work.Run(t.Context(), s.Queued.ID)
	if err != nil {
		t.Fatal(err)
	}
	webtest.WantText(t, s.Browser().Page("/devices", http.StatusOK), row,
		"Queued tried again at "+run.NotBefore.Format("2 Jan 2006, 15:04 UTC"))
}

func TestTheQueueSaysWhatIsAheadOfANewRun(t *testing.T) {
	s := webtest.NewScene(t)
	ben := modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)
	for range 3 { // in fair order, only the first of these precedes another person's new run
		s.Submit(ben, "H200", webtest.GoodKernel)
	}
	doc := s.Browser().Page("/devices", http.StatusOK)
	webtest.WantText(t, doc, "[data-device=H200] .card-head", "1 running, 4 waiting")
	webtest.WantText(t, doc, "[data-device=H200] [data-ahead]",
		"A ranked run would start after 1 other, ahead of 3 waiting runs.")
	if doc.Find("[data-device=CPU] [data-ahead]").Length() > 0 {
		t.Error("a device for which nothing waits has something ahead")
	}
	chip := s.BrowserOf(s.Ada).Page("/tasks/"+s.Task.Slug+"/solve", http.StatusOK).Find("label[data-device=H200]")
	if got, title := webtest.Words(chip), chip.AttrOr("title", ""); got != "H200 busy, 1 ahead" ||
		!strings.HasSuffix(title, "1 waiting ahead of a new run, 3 behind it") {
		t.Errorf("the choice of a device says %q, and %q", got, title)
	}
}

func TestALongQueueSaysHowManyItDoesNotShow(t *testing.T) {
	s := webtest.NewScene(t)
	for range 60 {
		s.Submit(s.Ada, "H200", webtest.GoodKernel)
	}
	doc := s.Browser().Page("/devices", http.StatusOK)
	shown := doc.Find("[data-device=H200] tbody tr").Length()
	webtest.WantText(t, doc, "[data-device=H200] [data-more]", fmt.Sprintf("%d more are waiting.", 62-shown))
}
