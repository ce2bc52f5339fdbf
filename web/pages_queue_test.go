package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestTheQueueHidesOtherPeoplesEvaluations: strangers see that the device is in demand, and
// nothing of whom or what for; being shared lists no one's kernel.
func TestTheQueueHidesOtherPeoplesEvaluations(t *testing.T) {
	s := newScene(t)
	ask := func(kind string, shared bool) work.Evaluation {
		e, err := s.site.Store.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: s.ada, Owner: fmt.Sprintf("user:%d", s.ada.ID), Caller: "token:1",
			Shared: shared, Kind: kind, Device: "H200", Request: json.RawMessage(`{}`), Sources: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	taken, waits := ask("compare", true), ask("evaluate", false)
	attempt, err := s.site.Store.Work.StartAttempt(t.Context(), taken.Ref())
	if err == nil {
		_, _, err = s.site.Store.Work.NoteTaken(t.Context(), "rack-7", []string{attempt.ID})
	}
	if err != nil {
		t.Fatal(err)
	}
	doc := s.browser().page("/devices", http.StatusOK)
	wantText(t, doc, "[data-device=H200] .card-head", "2 running, 2 waiting")
	wantText(t, doc, "[data-device=H200] [data-evaluation=compare]", "Comparison Building")
	wantText(t, doc, "[data-device=H200] [data-evaluation=evaluate]", "1 Evaluation Queued")
	wantText(t, doc, fmt.Sprintf("[data-device=H200] [data-run='%d']", s.queued.ID), "2 #")
	if rows := doc.Find("[data-evaluation]"); rows.Length() != 2 || rows.Find("a").Length() != 0 || strings.Contains(rows.Text(), s.ada.Name) {
		t.Errorf("a stranger sees %q", words(rows))
	}
	other := s.browserOf(modelstest.Person(t, s.site.Store, "Mallory", accounts.RoleUser)).page("/devices", http.StatusOK)
	if rows := other.Find("[data-evaluation]"); rows.Find("a").Length() != 0 {
		t.Errorf("someone else sees %q", words(rows))
	}
	for name, user := range map[string]accounts.User{"its caller": s.ada, "an admin": s.admin} {
		rows := s.browserOf(user).page("/devices", http.StatusOK).Find("[data-evaluation=evaluate]")
		if link := rows.Find("td.num a").AttrOr("href", ""); link != "/evaluations/"+waits.ID {
			t.Errorf("%s is led to %q", name, link)
		}
		if strings.Contains(rows.Text(), s.ada.Name) != (user.ID == s.ada.ID) {
			t.Errorf("%s sees %q", name, words(rows))
		}
	}
}

func TestTheQueueSaysWhenLostWorkIsTriedAgain(t *testing.T) {
	s := newScene(t)
	row := fmt.Sprintf("[data-device=H200] [data-run='%d']", s.queued.ID)
	if doc := s.browser().page("/devices", http.StatusOK); strings.Contains(doc.Find(row).Text(), "tried again") {
		t.Error("a run that was never lost is said to be tried again")
	}
	for range 4 { // each pause is longer than the one before
		attempt := s.attempt(s.queued)
		_, _, err := s.site.Store.Work.NoteTaken(t.Context(), "rack-7", []string{attempt.ID})
		if err == nil {
			_, err = s.site.Store.Work.FailAttempt(t.Context(), attempt.ID, "The worker rack-7 is gone.", work.LossWaits)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run, err := s.site.Store.Work.Run(t.Context(), s.queued.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, s.browser().page("/devices", http.StatusOK), row, "Queued tried again at "+run.NotBefore.Format("2 Jan 2006, 15:04 UTC"))
}

func TestALongQueueSaysHowManyItDoesNotShow(t *testing.T) {
	s := newScene(t)
	for range 60 {
		s.submit(s.ada, "H200", goodKernel)
	}
	doc := s.browser().page("/devices", http.StatusOK)
	shown := doc.Find("[data-device=H200] tbody tr").Length()
	wantText(t, doc, "[data-device=H200] [data-more]", fmt.Sprintf("%d more are waiting.", 62-shown))
}
