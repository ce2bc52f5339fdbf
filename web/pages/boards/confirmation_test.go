package boards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestAConfirmationIsShownOnBoardAndCards checks that the board and the card of a new 1st place say that it waits for
// confirmation. Afterwards the cards of both confirmed runs show the first score and the confirmed one.
func TestAConfirmationIsShownOnBoardAndCards(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), ConfirmFirstPlaces: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := webtest.StartAt(t, "127.0.0.1:0", store)
	boss := modelstest.Person(t, store, "Root", accounts.RoleAdmin)
	task := modelstest.Task(t, store, boss, "first", "CPU")
	finish := func(name string, ns float64) work.Run {
		run := modelstest.Submit(t, store, modelstest.Person(t, store, name, accounts.RoleUser), task)[0]
		modelstest.Finish(t, store, run, ns)
		return run
	}
	anns, bens := finish("Ann", 50_000), finish("Ben", 40_000)
	b, board := s.Browser(), "/tasks/first/boards/CPU"
	card := func(run work.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	webtest.WantText(t, b.Page(board, http.StatusOK), "#board tbody tr:first-child", "Ben waits for confirmation")
	webtest.WantText(t, b.Page(board, http.StatusOK), "[aria-labelledby=history] tbody tr:last-child", "40.00 µs not confirmed")
	webtest.WantText(t, b.Page("/", http.StatusOK), "#front-records li:first-child", "First on CPU not confirmed")
	webtest.WantText(t, b.Page("/tasks", http.StatusOK), ".ticker li:first-child", "40.00 µs Ben not confirmed")
	webtest.WantText(t, b.Page(card(bens), http.StatusOK), "[data-fact=record]", "Record, not confirmed")
	if text := webtest.Body(t, b.Get("/records.atom")); !strings.Contains(text, "First on CPU, not confirmed</title>") {
		t.Errorf("the feed says %s", text)
	}
	webtest.WantText(t, b.Page(card(bens), http.StatusOK), "[data-confirmation]", fmt.Sprintf("This run took 1st place, so it is being timed again, alternating with #%d", anns.SubmissionID))
	webtest.WantText(t, b.Page(card(anns), http.StatusOK), "[data-confirmation]", "took 1st place, so the two are being timed again")
	webtest.WantText(t, b.Page("/devices", http.StatusOK), "#devices tbody", fmt.Sprintf("Confirmation of #%d Queued", anns.SubmissionID))
	answer, err := s.API(accounts.User{}).Board(t.Context(), "first", "CPU", 1)
	if err != nil || !answer.Entries[0].AwaitsConfirmation || answer.Entries[1].AwaitsConfirmation {
		t.Errorf("the API says %+v, %v", answer.Entries, err)
	}
	for i, ns := range []float64{50_000, 45_000, 50_000, 45_000} {
		for _, run := range []work.Run{anns, bens} {
			webtest.WantText(t, b.Page(card(run), http.StatusOK), "[data-confirmation]", fmt.Sprintf("%d of 4 turns are done.", i))
		}
		modelstest.Finish(t, store, nextConfirmationRun(t, store), ns)
	}
	doc := b.Page(board, http.StatusOK)
	webtest.WantText(t, doc, "#board tbody tr:first-child", "Ben confirmed, was 40.00 µs 45.00 µs")
	webtest.WantText(t, doc, "[aria-labelledby=history] tbody tr:last-child", "Was 40.00 µs, rescored by a confirmation")
	if doc.Find("#board tbody a.tag").Length() != 1 || doc.Find("[data-unconfirmed]").Length() != 0 {
		t.Error("someone still waits for confirmation")
	}
	webtest.WantText(t, b.Page(card(bens), http.StatusOK), "[data-confirmation]", fmt.Sprintf("confirmed Timed again on one slot, alternating with #%d. The first timing was 40.00 µs; the score is now the median of all confirmations of this source.", anns.SubmissionID))
	webtest.WantText(t, b.Page(card(bens), http.StatusOK), "[data-first-timing]", "the first timing, which gave 40.00 µs. The score above comes from the confirmation.")
	webtest.WantText(t, b.Page(card(anns), http.StatusOK), "[data-confirmation]", "went from 40.00 µs to 45.00 µs.")

	cleos := finish("Cleo", 30_000)
	run := nextConfirmationRun(t, store)
	attempt, err := store.Work.StartAttempt(t.Context(), run.WorkRef())
	if err == nil {
		_, err = store.Work.RecordResult(t.Context(), job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomeFailed,
			Failure: &job.Failure{Reason: "It ended with exit code 3.", ExitCode: 3}}, work.ResultFindings{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		modelstest.Finish(t, store, nextConfirmationRun(t, store), 35_000)
	}
	alone := fmt.Sprintf("#%d did not pass when it was measured again. It ended with exit code 3. The other run was measured alone.", bens.SubmissionID)
	webtest.WantText(t, b.Page(card(cleos), http.StatusOK), "[data-confirmation]", "Timed again on one slot. The first timing was 30.00 µs; the score is now the median of all confirmations of this source. "+alone)
	webtest.WantText(t, b.Page(card(bens), http.StatusOK), "[data-confirmation]", "The confirmation gave no time for this run. "+alone)
}

// TestAConfirmedScoreComesWithItsCases checks that the page of a confirmed run shows the score of each confirming
// measurement with its case times, and the cases of the first measurement collapsed.
func TestAConfirmedScoreComesWithItsCases(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), ConfirmFirstPlaces: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := webtest.StartAt(t, "127.0.0.1:0", store)
	task := modelstest.Task(t, store, modelstest.Person(t, store, "Root", accounts.RoleAdmin), "first", "CPU")
	var last work.Run
	for i, name := range []string{"Ann", "Ben"} {
		last = modelstest.Submit(t, store, modelstest.Person(t, store, name, accounts.RoleUser), task)[0]
		modelstest.Finish(t, store, last, 3e6-float64(i)*1e6)
	}
	page := func() *goquery.Document {
		return s.Browser().Page(fmt.Sprintf("/submissions/%d", last.SubmissionID), http.StatusOK)
	}
	if doc := page(); doc.Find("[data-turns]").Length() > 0 || doc.Find("[data-cases=ranked][open]").Length() != 1 {
		t.Error("before the confirmation the cases of the first timing are not what the page shows")
	}
	for _, ns := range []float64{300e3, 125e3, 300e3, 140e3} {
		modelstest.Finish(t, store, nextConfirmationRun(t, store), ns)
	}
	doc := page()
	webtest.WantText(t, doc, "[data-turns][open] summary", "Confirmation, 2 turns the score is the median of the turns' scores")
	webtest.WantText(t, doc, "[data-turn-scores]", "Turn 1 125.0 µs Turn 2 140.0 µs Median 132.3 µs")
	webtest.WantText(t, doc, "[data-turns] tbody tr:first-child", "size: 1024; seed: 2 132.3 µs 125.0 µs 140.0 µs")
	webtest.WantText(t, doc, "[data-turns-score]", "Score 132.3 µs 125.0 µs 140.0 µs")
	webtest.WantText(t, doc, "[data-cases=ranked]:not([open]) summary", "Ranked, first timing")
	w := (&webtest.Scene{Site: s}).Window()
	w.Visit(fmt.Sprintf("/submissions/%d", last.SubmissionID))
	w.LooksRight("confirmed")
}

// TestAScoreThatAnotherPersonsConfirmationChangedSaysSo checks that the card explains such a change, with its day and
// the score before it.
func TestAScoreThatAnotherPersonsConfirmationChangedSaysSo(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), ConfirmFirstPlaces: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := webtest.StartAt(t, "127.0.0.1:0", store)
	task := modelstest.Task(t, store, modelstest.Person(t, store, "Root", accounts.RoleAdmin), "first", "CPU")
	runs := map[string]work.Run{}
	for _, r := range []struct {
		name, source string
		ns           float64
	}{{"Ann", "a", 3e6}, {"Cid", "same", 4e6}, {"Ben", "same", 2e6}} {
		runs[r.name] = modelstest.SubmitSource(t, store, modelstest.Person(t, store, r.name, accounts.RoleUser), task, r.source)[0]
		modelstest.Finish(t, store, runs[r.name], r.ns)
	}
	for range 4 {
		modelstest.Finish(t, store, nextConfirmationRun(t, store), 125e3)
	}
	page := func(name string) *goquery.Document {
		return s.Browser().Page(fmt.Sprintf("/submissions/%d", runs[name].SubmissionID), http.StatusOK)
	}
	webtest.WantText(t, page("Ben"), "[data-pool]", fmt.Sprintf(", because the same source was confirmed as #%d. First timing: 2.000 ms. This source was confirmed at 125.0 µs. Further runs will not change that.", runs["Cid"].SubmissionID))
	if message := webtest.Words(page("Cid").Find("[data-run]")); strings.Contains(message, "because the same source") {
		t.Errorf("the run that was confirmed says %q", message)
	}
}

// nextConfirmationRun returns the only waiting run of the queue.
func nextConfirmationRun(t *testing.T, store *models.Store) work.Run {
	t.Helper()
	work, err := store.Work.WaitingQueue(t.Context())
	if err != nil || len(work) != 1 {
		t.Fatalf("%+v waits: %v", work, err)
	}
	run, err := store.Work.Run(t.Context(), work[0].RunID)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestARecordIsCalledOneAsLongAsTheBoardHasIt checks that a run is no longer called a record after its confirmation
// revoked it, and is called a former record after a faster run.
func TestARecordIsCalledOneAsLongAsTheBoardHasIt(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), ConfirmFirstPlaces: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := webtest.StartAt(t, "127.0.0.1:0", store)
	boss := modelstest.Person(t, store, "Root", accounts.RoleAdmin)
	task := modelstest.Task(t, store, boss, "first", "CPU")
	finish := func(name string, ns float64) work.Run {
		run := modelstest.Submit(t, store, modelstest.Person(t, store, name, accounts.RoleUser), task)[0]
		modelstest.Finish(t, store, run, ns)
		return run
	}
	b := s.Browser()
	labels := func(runs ...work.Run) (list []string) {
		for _, run := range runs {
			list = append(list, webtest.Words(b.Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK).Find("[data-fact=record]")))
		}
		return list
	}
	anns, bens := finish("Ann", 50_000), finish("Ben", 40_000)
	if diff := cmp.Diff([]string{"Former record", "Record, not confirmed"}, labels(anns, bens)); diff != "" {
		t.Errorf("before the confirmation (-want +got):\n%s", diff)
	}
	open := b.Page(fmt.Sprintf("/submissions/%d", bens.SubmissionID), http.StatusOK).Find("[data-confirmation]")
	for _, ns := range []float64{50_000, 55_000, 50_000, 55_000} {
		modelstest.Finish(t, store, nextConfirmationRun(t, store), ns)
	}
	again := b.Page(open.AttrOr("hx-get", "/"), http.StatusOK)
	if again.Find(open.AttrOr("hx-target", "no target")).Length() != 1 || again.Find("[data-fact=record], [hx-trigger]").Length() > 0 {
		t.Errorf("a page that was open asks for its card and gets %s", webtest.Words(again.Find("body")))
	}
	if diff := cmp.Diff([]string{"Record", ""}, labels(anns, bens)); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/tasks/first/boards/CPU/records.atom", "/records.atom"} {
		if feed := webtest.Body(t, b.Get(path)); strings.Contains(feed, "Ben") || !strings.Contains(feed, "Ann") {
			t.Errorf("%s still has the record that was undone:\n%s", path, feed)
		}
	}
	if table := webtest.Words(b.Page("/tasks/first/boards/CPU", http.StatusOK).Find("[aria-labelledby=history] tbody")); strings.Contains(table, "Ben") {
		t.Errorf("the history still has it: %s", table)
	}
}
