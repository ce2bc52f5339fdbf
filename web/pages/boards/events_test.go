package boards_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestEntrantsWithoutPointsHaveNoRank checks that such entrants are listed by name after those with points, on the
// page, on the wall (large type for projectors), and in the exports.
func TestEntrantsWithoutPointsHaveNoRank(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	b := s.Browser()
	page := b.Page("/events/"+e.Slug, http.StatusOK)
	webtest.WantText(t, page, "#standings tbody tr:nth-child(3)", "3 ")
	webtest.WantText(t, page, "#standings tbody tr:nth-child(4)", "– Ada Lovelace 0")
	webtest.WantText(t, b.Page("/events/"+e.Slug+"/wall", http.StatusOK), "tbody tr:nth-child(4)", "– Ada Lovelace 0")
	rows, err := csv.NewReader(b.Get("/events/" + e.Slug + "/standings.csv").Body).ReadAll()
	if err != nil || rows[3][0] != "3" || rows[4][0] != "" || rows[4][1] != "Ada Lovelace" {
		t.Errorf("the CSV has %v, %v", rows[:5], err)
	}
	w := s.Window()
	w.Do(chromedp.EmulateViewport(390, 844))
	w.Visit("/events/" + e.Slug)
	w.Until(`[...document.querySelectorAll("#standings tbody td")].every((cell) => cell.getBoundingClientRect().right <= innerWidth)`)
	w.Until(`[...document.querySelectorAll("#standings a, .facts a, #event-now .small a")].every((link) => link.getBoundingClientRect().height >= 24)`)
	w.Visit("/submissions/" + strconv.FormatInt(s.Done.SubmissionID, 10))
	w.Until(`document.querySelectorAll(".card-head a").length > 2 && [...document.querySelectorAll(".card-head a")].every((link) => link.getBoundingClientRect().height >= 24)`)
	w.Visit("/events/" + e.Slug)
	w.LooksRight("event")
}

// TestEqualPointsShareARank checks that the page and the wall mark such a rank as shared ("2=").
func TestEqualPointsShareARank(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	s.SQL("update events set points = '5/3/3' where id = $1", e.ID)
	b := s.Browser()
	page, wallTime := b.Page("/events/"+e.Slug, http.StatusOK), b.Page("/events/"+e.Slug+"/wall", http.StatusOK)
	for i, want := range []string{"1 ", "2= ", "2= "} {
		webtest.WantText(t, page, fmt.Sprintf("#standings tbody tr:nth-child(%d)", i+1), want)
		webtest.WantText(t, wallTime, fmt.Sprintf("tbody tr:nth-child(%d)", i+1), want)
	}
}

// TestAnOrganizerMakesAnEventAndEveryoneFollowsIt creates an event with its form and reads it on its page, on the wall
// (large type for projectors), and in the exports.
func TestAnOrganizerMakesAnEventAndEveryoneFollowsIt(t *testing.T) {
	s := webtest.NewScene(t)
	organizer := s.BrowserOf(s.Admin)
	now := time.Now().UTC()
	form := url.Values{"title": {"Winter Cup"}, "about": {"**Prizes** for three."},
		"starts": {now.Add(-time.Minute).Format("2006-01-02T15:04:05")},
		"ends":   {now.Add(time.Hour).Format("2006-01-02T15:04")}, "points": {"5/x"}, "task": {s.Task.Slug}}
	refused := webtest.Document(t, organizer.Post("/events/new", form), http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[role=alert]", `There is no points rule "5/x"`)
	if refused.Find("[name=task][checked]").AttrOr("value", "") != s.Task.Slug ||
		refused.Find("#title").AttrOr("value", "") != "Winter Cup" {
		t.Error("a refused form forgets what was typed")
	}
	form.Set("points", "5/3/1")
	webtest.WantText(t, webtest.Document(t, organizer.Post("/events/new", form), http.StatusOK), "[role=status]",
		"Saved.")
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post("/events/new", form), http.StatusForbidden)

	visitor := s.Browser()
	webtest.WantText(t, visitor.Page("/events", http.StatusOK), "[data-event=winter-cup]", "Winter Cup")
	page := visitor.Page("/events/winter-cup", http.StatusOK)
	webtest.WantText(t, page, ".prose strong", "Prizes")
	webtest.WantText(t, page, "[data-phase]", "Ends in")
	webtest.WantText(t, page, "#standings tbody tr:first-child", "5")
	if page.Find("a[href='/tasks/"+s.Task.Slug+"']").Length() == 0 ||
		page.Find("#reveal, a[href$='/edit']").Length() != 0 {
		t.Error("the page lacks its task, or offers a visitor to change it")
	}
	part := webtest.Document(t, visitor.Get("/events/winter-cup", "HX-Request", "true"), http.StatusOK)
	if part.Find("#event-now #standings").Length() != 1 || part.Find("footer").Length() != 0 {
		t.Error("the part is not the standings alone")
	}
	wallTime := visitor.Page("/events/winter-cup/wall", http.StatusOK)
	if wallTime.Find("[data-entrant]").Length() != 12 || wallTime.Find("nav, footer").Length() != 0 {
		t.Errorf("the wall shows %d entrants", wallTime.Find("[data-entrant]").Length())
	}
	if page.Find("#standings tbody tr").Length() != 50 ||
		visitor.Page("/events/winter-cup?device=CPU", http.StatusOK).Find("#standings").Length() != 0 {
		t.Error("a device does not choose its boards")
	}
	visitor.Page("/events/nothing", http.StatusNotFound)

	form.Set("title", "Spring Cup")
	webtest.WantText(t, webtest.Document(t, organizer.Post("/events/winter-cup/edit", form), http.StatusOK), "h1",
		"Spring Cup")
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post("/events/winter-cup/edit", form), http.StatusForbidden)
	webtest.WantText(t, organizer.Page("/events/winter-cup/edit", http.StatusOK), "#about", "for three")
}

// TestTasksOfAnEventKeepTheOrganizersOrder checks the order of an event's tasks on its page and in its form.
func TestTasksOfAnEventKeepTheOrganizersOrder(t *testing.T) {
	s := webtest.NewScene(t)
	organizer := s.BrowserOf(s.Admin)
	slugs := []string{s.Task.Slug}
	for _, name := range []string{"zebra", "aardvark"} {
		task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin,
			catalog.NewTask{Bundle: modelstest.Bundle(name),
				TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Public}})
		if err != nil {
			t.Fatal(err)
		}
		slugs = append(slugs, task.Slug)
	}
	now := time.Now().UTC()
	form := url.Values{"title": {"Cup"}, "points": {"1"}, "starts": {now.Format("2006-01-02T15:04:05")},
		"ends": {now.Add(time.Hour).Format("2006-01-02T15:04:05")}, "task": slugs,
		"order-" + slugs[0]: {"2"}, "order-" + slugs[1]: {"1"}, "order-" + slugs[2]: {"3"}}
	webtest.WantStatus(t, organizer.Post("/events/new", form), http.StatusOK)
	want := []string{slugs[1], slugs[0], slugs[2]}
	listed := organizer.Page("/events/cup", http.StatusOK).Find("#event-now [data-task]")
	offered := organizer.Page("/events/cup/edit", http.StatusOK).Find("[name=task][checked]")
	for i, slug := range want {
		if got := listed.Eq(i).AttrOr("data-task", ""); got != slug {
			t.Errorf("task %d on the page is %s, not %s", i+1, got, slug)
		}
		if got := offered.Eq(i).AttrOr("value", ""); got != slug {
			t.Errorf("task %d in the form is %s, not %s", i+1, got, slug)
		}
	}
}

// TestAScriptCanRecomputeTheStandings checks that JSON and CSV exports agree and contain all data from which points and
// ranks are computed.
func TestAScriptCanRecomputeTheStandings(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	var answer client.EventStandings
	webtest.DecodeBody(t, s.Browser().Get("/events/"+e.Slug+"/standings.json"), &answer)
	if len(answer.Boards) != 2 || len(answer.Standings) != 61 || answer.Standings[0].Points != 5 ||
		answer.Standings[0].Results[0].Place != 1 || answer.Frozen {
		t.Fatalf("the event is %+v", answer.EventSummary)
	}
	rows, err := csv.NewReader(s.Browser().Get("/events/" + e.Slug + "/standings.csv").Body).ReadAll()
	if err != nil || len(rows) != 62 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		want := answer.Standings[i]
		if row[1] != want.Name || row[7] != fmt.Sprint(want.Results[0].Place) ||
			row[10] != fmt.Sprint(want.Results[0].Points) {
			t.Errorf("row %v, answer %+v", row, want)
		}
	}
	list, err := s.API(s.Ada).Events(t.Context())
	if err != nil || len(list) != 1 || list[0].Slug != e.Slug || !list[0].EndsAt.Equal(e.EndsAt) {
		t.Errorf("events: %+v, %v", list, err)
	}
	if got, err := s.API(s.Ada).EventStandings(t.Context(), e.Slug); err != nil || len(got.Standings) != 61 {
		t.Errorf("standings: %v", err)
	}
}

// TestStandingsComeInPagesOf200Entrants checks the pages of large standings, and that the organizer's CSV has all
// entrants.
func TestStandingsComeInPagesOf200Entrants(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	const added = 190 // entrants, in addition to 61
	for i := range added {
		s.SQL("insert into users (name, name_key, role, created_at, updated_at) values ($1, $1, 'user', $2, $2)",
			fmt.Sprintf("Extra %03d", i), time.Now().UTC())
	}
	s.SQL(`insert into entries (version_id, device, user_id, run_id, submission_id, age, score_ns, std_ns, err_ns, achieved_at)
		select e.version_id, e.device, u.id, -u.id, e.submission_id, e.age, 1e9 + u.id, 0, 0, e.achieved_at from users u, entries e where u.name like 'Extra %' and e.run_id = $1`, s.Done.ID)
	s.SQL("update boards set change = change + 1 where device = 'H200'")
	sizes := []int{}
	for page := 1; page <= 3; page++ {
		var answer client.EventStandings
		webtest.DecodeBody(t, s.Browser().Get(fmt.Sprintf("/api/v1/events/%s?page=%d", e.Slug, page)), &answer)
		rows, err := csv.NewReader(s.Browser().Get(fmt.Sprintf("/events/%s/standings.csv?page=%d", e.Slug,
			page)).Body).ReadAll()
		if err != nil || answer.Total != 61+added || answer.Page != page || len(rows) != 1+len(answer.Standings) {
			t.Errorf("page %d: %d of %d entrants, %d rows, %v", answer.Page, len(answer.Standings), answer.Total,
				len(rows), err)
		}
		sizes = append(sizes, len(answer.Standings))
	}
	if !slices.Equal(sizes, []int{200, 61 + added - 200, 0}) {
		t.Errorf("pages of %d entrants", sizes)
	}
	rows, err := csv.NewReader(s.BrowserOf(s.Admin).Get("/events/" + e.Slug + "/standings.csv").Body).ReadAll()
	if err != nil || len(rows) != 1+61+added {
		t.Errorf("the organizer gets %d rows, %v", len(rows), err)
	}
	if all, err := s.API(s.Ada).EventStandings(t.Context(), e.Slug); err != nil || len(all.Standings) != 61+added {
		t.Errorf("the client reads other standings: %v", err)
	}
}

// TestAHiddenTaskIsInNoStandingsOfStrangers checks that people who may not see a task see neither its name nor its
// entries in the standings of an event.
func TestAHiddenTaskIsInNoStandingsOfStrangers(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	s.SQL("update tasks set visibility = 'hidden' where id = $1", s.Task.ID)
	for _, path := range []string{"/events/" + e.Slug, "/events/" + e.Slug + "/wall",
		"/events/" + e.Slug + "/standings.csv", "/api/v1/events/" + e.Slug} {
		if text := webtest.Body(t, s.BrowserOf(s.Ada).Get(path)); strings.Contains(text, s.Task.Title) ||
			strings.Contains(text, "Barbara Liskov") {
			t.Errorf("%s shows it", path)
		}
		if text := webtest.Body(t, s.BrowserOf(s.Admin).Get(path)); !strings.Contains(text, "Barbara Liskov") {
			t.Errorf("%s hides it from an admin", path)
		}
	}
}

// TestAnEventThatHasNotBegunTakesNoSubmission checks that the error has the start time of the event.
func TestAnEventThatHasNotBegunTakesNoSubmission(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(0)
	starts := time.Now().Add(30 * time.Minute).UTC().Truncate(time.Second)
	s.SQL("update events set starts_at = $1 where id = $2", starts.Format("2006-01-02 15:04:05+00:00"), e.ID)
	_, err := s.API(s.Ada).Submit(t.Context(),
		client.NewSubmission{Task: s.Task.Slug, Devices: []string{"H200"}, Mode: job.ModeTest, FileName: "a.cu",
			Source: "// early"})
	if err == nil || !strings.Contains(err.Error(), "The event Winter Cup starts at "+starts.Format(time.DateTime)+
		" UTC.") {
		t.Errorf("an early submission: %v", err)
	}
	webtest.WantText(t, s.Browser().Page("/events/"+e.Slug, http.StatusOK), "[data-phase]", "Starts in")
}

// TestTheEventPagesLookRight checks layout and accessibility of the pages of an event at several widths, and that they
// update without a reload.
func TestTheEventPagesLookRight(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(time.Minute)
	s.Finish(s.Submit(s.Ada, "H200", webtest.GoodKernel), 5e3)
	s.Finish(s.Submit(modelstest.Person(t, s.Cfg.Store, "Margaret Hamilton", accounts.RoleUser), "CPU",
		webtest.GoodKernel), 8e6)
	w := s.Window().As(s.BrowserOf(s.Admin))
	for name, path := range map[string]string{"events": "/events", "event": "/events/" + e.Slug,
		"event-new": "/events/new", "event-edit": "/events/" + e.Slug + "/edit"} {
		w.Visit(path)
		w.LooksRight(name)
	}
	if _, err := chromedp.Call(w.Ctx, emulation.SetTimezoneOverride,
		emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"}); err != nil {
		t.Fatal(err)
	}
	w.Visit("/events/" + e.Slug + "/edit")
	w.Eval(`(() => { const at = document.querySelector("#starts"); at.value = "2030-01-02T20:00:00"; at.dispatchEvent(new Event("input")); })()`)
	w.Until(`document.querySelector("#starts + .hint").textContent == "3 Jan 2030, 05:00 in your time zone"`)
	w.Visit("/events/" + e.Slug + "/wall")
	w.LooksRight("event-wall")
	s.Ended(e)
	w.Visit("/events/" + e.Slug)
	w.LooksRight("event-ended")
	organizer := s.BrowserOf(s.Admin)
	form := webtest.Fields(organizer.Page("/events/"+e.Slug, http.StatusOK).Find("#reveal form"))
	form.Set("who", "next")
	organizer.Post("/events/"+e.Slug+"/reveal", form)
	w.Shows("#standings", "Margaret Hamilton") // shown without a reload
	w.RefusedNothing()
}

// TestAnOrganizerDeletesAnEvent checks that deleting requires the typed name, and is refused while results are hidden.
// Tasks and submissions remain.
func TestAnOrganizerDeletesAnEvent(t *testing.T) {
	s := webtest.NewScene(t)
	e := s.Event(time.Minute)
	path, admin := "/events/"+e.Slug, s.BrowserOf(s.Admin)
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post(path+"/delete", url.Values{"confirm": {e.Slug}}),
		http.StatusForbidden)
	form := admin.Page(path+"/edit", http.StatusOK).Find("form[action$='/delete']")
	if form.Length() != 1 {
		t.Fatal("the event's form does not lead to its end")
	}
	doc := webtest.Document(t, admin.Post(path+"/delete", url.Values{"confirm": {"something"}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "[role=alert]", "type its name: "+e.Slug)
	s.Finish(s.Submit(s.Ada, "H200", webtest.GoodKernel), 9e3)
	doc = webtest.Document(t, admin.Post(path+"/delete", url.Values{"confirm": {e.Slug}}), http.StatusConflict)
	webtest.WantText(t, doc, "[role=alert]", "Reveal them before you delete the event.")
	s.Ended(e)
	webtest.WantStatus(t, admin.Post(path+"/reveal", url.Values{"who": {"all"}}), http.StatusOK)
	doc = webtest.Document(t, admin.Post(path+"/delete", url.Values{"confirm": {e.Slug}}), http.StatusOK)
	webtest.WantText(t, doc, "[role=status]", "Its tasks stay, with their boards and submissions.")
	webtest.WantStatus(t, s.Browser().Get(path), http.StatusNotFound)
	if rows := s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/H200",
		http.StatusOK).Find("#board tbody tr").Length(); rows < 10 {
		t.Errorf("%d rows are left of the task's board", rows)
	}
	webtest.WantText(t, admin.Page("/audit?q="+url.QueryEscape("event "+e.Slug), http.StatusOK),
		"[data-act='delete event']", e.Title)
}
