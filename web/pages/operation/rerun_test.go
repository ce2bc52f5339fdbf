package operation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// measuredAgain ends the waiting reruns with the given scores. Reruns beyond these scores fail.
func measuredAgain(s *webtest.Scene, driver string, scores ...float64) {
	s.T.Helper()
	queue, err := s.Cfg.Store.Work.WaitingQueue(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	for _, q := range queue {
		if q.Priority != work.PriorityRerun {
			continue
		}
		run, err := s.Cfg.Store.Work.Run(s.T.Context(), q.RunID)
		if err != nil {
			s.T.Fatal(err)
		}
		result, score := modelstest.Result(s.Attempt(run), 0), (*work.Score)(nil)
		result.Machine.Driver = driver
		result.Outcome, result.Failure = job.OutcomeFailed, &job.Failure{Reason: "Wrong answer in test 3."}
		result.Stages = []job.StageResult{{Stage: job.StageTest, Status: job.StatusFail}}
		if len(scores) > 0 {
			low, high := scores[0]*0.999, scores[0]*1.001
			score = &work.Score{NS: scores[0], Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}}
			result.Outcome, result.Failure, result.ScoreNS, scores = job.OutcomePassed, nil, &scores[0], scores[1:]
		}
		if _, err := s.Cfg.Store.Work.RecordResult(s.T.Context(), result,
			work.ResultFindings{Score: score}); err != nil {
			s.T.Fatal(err)
		}
	}
}

// smallTask creates a task with three entries on the CPU, and returns its author, Cora.
func smallTask(s *webtest.Scene, driver string) accounts.User {
	s.T.Helper()
	cora := modelstest.Person(s.T, s.Cfg.Store, "Cora", accounts.RoleCreator)
	task := modelstest.Task(s.T, s.Cfg.Store, cora, "small", "CPU")
	for i, name := range []string{"Ann", "Ben", "Cid"} {
		run := modelstest.Submit(s.T, s.Cfg.Store, modelstest.Person(s.T, s.Cfg.Store, name, accounts.RoleUser),
			task)[0]
		result := modelstest.Result(s.Attempt(run), 1e3*float64(10+i))
		result.Machine.Driver = driver
		if _, err := s.Cfg.Store.Work.RecordResult(s.T.Context(), result,
			work.ResultFindings{Score: &work.Score{NS: 1e3 * float64(10+i)}}); err != nil {
			s.T.Fatal(err)
		}
	}
	return cora
}

// TestAnAuthorRerunsATask checks that the page of reruns shows how the scores and ranks would change, and that they
// change only when the author applies the reruns.
func TestAnAuthorRerunsATask(t *testing.T) {
	s := webtest.NewScene(t)
	author := smallTask(s, "")
	cora, visitor := s.BrowserOf(author), s.Browser()
	link := cora.Page("/tasks/small", http.StatusOK).Find("a:contains('Rejudge')").AttrOr("href", "")
	if link != "/tasks/small/rejudge" {
		t.Fatalf("the task's page leads to %q", link)
	}
	if resp := s.BrowserOf(s.Ada).Get(link); resp.StatusCode != http.StatusForbidden {
		t.Errorf("someone else gets %s", resp.Status)
	}
	if n := visitor.Page("/tasks/small", http.StatusOK).Find("a:contains('Rejudge')").Length(); n != 0 {
		t.Error("it is offered to everyone")
	}
	webtest.WantText(t, webtest.Document(t, cora.Post(link, url.Values{"reason": {""}}),
		http.StatusUnprocessableEntity), "[role=alert]", "Give a reason")
	doc := webtest.Document(t, cora.Post(link, url.Values{"reason": {"Test 3 was missing."}}), http.StatusOK)
	webtest.WantText(t, doc, "[data-state=waiting]", "3 runs still to be measured")
	webtest.WantText(t, webtest.Document(t, cora.Post(link+"/apply", nil), http.StatusConflict), "[role=alert]",
		"still have to be measured again")
	measuredAgain(s, "", 12e3, 9e3)
	doc = cora.Page(link, http.StatusOK)
	webtest.WantText(t, doc, "[data-state=measured]", "If you apply them, this changes")
	webtest.WantText(t, doc, "[data-board=CPU] tr[data-rerun]:nth-child(1)",
		"1 → 2 Ann 10.00 µs 12.00 µs 20.0 % slower")
	webtest.WantText(t, doc, "[data-board=CPU] tr[data-rerun]:nth-child(2)", "2 → 1 Ben 11.00 µs 9.00 µs 18.2 % faster")
	webtest.WantText(t, doc, "[data-board=CPU] tr[data-rerun]:nth-child(3)",
		"3 → – Cid 12.00 µs does not pass Wrong answer in test 3.")
	webtest.WantText(t, visitor.Page("/tasks/small/boards/CPU", http.StatusOK), "tbody tr:first-child", "Ann")
	doc = webtest.Document(t, cora.Post(link+"/apply", nil), http.StatusOK)
	webtest.WantText(t, doc, "[data-state=applied]", "Test 3 was missing.")
	board := visitor.Page("/tasks/small/boards/CPU", http.StatusOK)
	webtest.WantText(t, board, "tbody tr:first-child", "Ben")
	if rows := board.Find("#board tbody tr").Length(); rows != 2 {
		t.Errorf("%d are on the board", rows)
	}
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/audit?q="+url.QueryEscape("task small"), http.StatusOK),
		"[data-act='apply rejudge']", "Test 3 was missing.")
}

// TestAnAuthorCancelsARerun checks that other people may not cancel it.
func TestAnAuthorCancelsARerun(t *testing.T) {
	s := webtest.NewScene(t)
	author := smallTask(s, "")
	cora := s.BrowserOf(author)
	webtest.Document(t, cora.Post("/tasks/small/rejudge", url.Values{"reason": {"Why not."}}), http.StatusOK)
	if resp := s.BrowserOf(s.Ada).Post("/tasks/small/rejudge/cancel", nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("someone else gets %s", resp.Status)
	}
	webtest.WantText(t, webtest.Document(t, cora.Post("/tasks/small/rejudge/cancel", nil), http.StatusOK),
		"[data-state=cancelled]", "Why not.")
}

// olderHasNoRank checks Cid's run, which older software measured: it is last on the board and on Cid's page, and its
// own page, badge, and embedded board show no rank.
func olderHasNoRank(s *webtest.Scene, visitor *webtest.Browser, board *goquery.Document) {
	s.T.Helper()
	row := board.Find("[data-older] tbody tr")
	card := visitor.Page(row.Find("a[href^='/submissions/']").AttrOr("href", ""), http.StatusOK)
	webtest.WantText(s.T, card, "[data-run]", "older software")
	if n := card.Find("[data-fact=place], [data-fact=next]").Length(); n != 0 {
		s.T.Errorf("a run of older software has a rank on its page: %s", webtest.Words(card.Find("[data-run]")))
	}
	webtest.WantText(s.T, visitor.Page(row.Find("a[href^='/users/']").AttrOr("href", ""), http.StatusOK),
		"[aria-labelledby=places] tbody", "(3) Small CPU older software")
	if frame := webtest.Words(visitor.Page("/tasks/small/boards/CPU/embed",
		http.StatusOK).Find("tbody")); strings.Contains(frame, "Cid") || !strings.Contains(frame, "2 Ann") {
		s.T.Errorf("the board in a frame says %q", frame)
	}
	for _, badge := range []string{"/runs/" + row.AttrOr("data-entry", "") + "/badge.svg",
		"/tasks/small/boards/CPU/badge.svg?user=" + strings.TrimPrefix(row.AttrOr("id", ""), "entry-")} {
		// With a rank, the badge would have "on CPU: 3 of 3, 12.00".
		if text := webtest.Body(s.T, visitor.Get(badge)); !strings.Contains(text, "on CPU: 12.00") {
			s.T.Errorf("%s has a rank, or no score:\n%s", badge, text)
		}
	}
}

// TestNewSoftwareOfADeviceIsShownWithWhatItChanged checks that a board marks entries that older software measured, and
// links to a page that compares old and new scores.
func TestNewSoftwareOfADeviceIsShownWithWhatItChanged(t *testing.T) {
	s := webtest.NewScene(t)
	beat := func(driver string) {
		t.Helper()
		h := job.Heartbeat{Worker: "rack-9", WorkerStartedAt: time.Now(),
			Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{Driver: driver}}}}
		if _, _, err := s.Cfg.Store.RecordSlots(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	beat("570")
	smallTask(s, "570")
	beat("580")
	measuredAgain(s, "580", 12e3, 9e3)
	visitor := s.Browser()
	board := visitor.Page("/tasks/small/boards/CPU", http.StatusOK)
	webtest.WantText(t, board, "[data-epoch]", "Scores here were measured with driver 580.")
	webtest.WantText(t, board, "tbody tr:nth-child(1)", "1 Ben")
	webtest.WantText(t, board, "[data-older] summary",
		"2 entries measured with the newest software. 1 other waits to be measured again")
	webtest.WantText(t, board, "[data-older]", "the first hundred of an open board again by itself")
	webtest.WantText(t, board, "[data-older] tbody tr", "(3) Cid 12.000 µs")
	if rows, dots := board.Find("#board > table tbody tr").Length(),
		board.Find(".strip a[href^='/runs/']").Length(); rows != 2 || dots != 2 {
		t.Errorf("2 are ranked, and there are %d rows and %d dots", rows, dots)
	}
	olderHasNoRank(s, visitor, board)
	if n := board.Find(".chart .step.older").Length(); n != 1 || board.Find(".chart .point.older").Length() == 0 {
		t.Errorf("the history of older software has %d grey lines", n)
	}
	doc := visitor.Page(board.Find("[data-epoch] a").AttrOr("href", ""), http.StatusOK)
	webtest.WantText(t, doc, "[data-drift]", "driver 570 → 580")
	webtest.WantText(t, doc, "[data-drift]", "2 of 3 measured, 0.9 % faster overall")
	webtest.WantText(t, doc, "tr[data-rerun]:nth-child(1)",
		"Small Ann 10.00 µs 12.00 µs 20.0 % slower (19.9 to 20.1 %)")
	webtest.WantText(t, doc, "tr[data-rerun]:nth-child(3)", "Small Cid 12.00 µs does not pass Wrong answer in test 3.")
	w := s.Window()
	w.Visit("/devices/CPU/drift")
	w.Do(chromedp.EmulateViewport(390, 900))
	w.Until(`[...document.querySelectorAll(".scroll")].every((box) => box.scrollWidth == box.clientWidth)`)
	w.LooksRight("drift")
	w.Visit("/tasks/small/boards/CPU")
	w.Click("[data-older] summary")
	w.LooksRight("board-older")
	if resp := visitor.Get(fmt.Sprintf("/devices/%s/drift", "Z80")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a device that no one has: %s", resp.Status)
	}
	if link := visitor.Page("/devices", http.StatusOK).Find("[data-device=CPU] a:contains('Software')").AttrOr("href",
		""); link != "/devices/CPU/drift" {
		t.Errorf("the queue page leads to %q", link)
	}
}
