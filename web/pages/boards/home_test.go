package boards_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

// listed returns the slugs of the tasks on a home page, in page order.
func listed(doc *goquery.Document) []string {
	return doc.Find("[data-task]").Map(func(_ int, e *goquery.Selection) string { return e.AttrOr("data-task", "") })
}

func TestHomeHasALineForEachTaskWithItsLeaders(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/tasks", http.StatusOK)
	card := fmt.Sprintf("[data-task=%q]", s.Task.Slug)
	webtest.WantText(t, doc, card+" h2", s.Task.Title)
	webtest.WantText(t, doc, card+" .meta", "Closes "+s.Task.Deadline.Format("2 Jan 2006"))
	webtest.WantText(t, doc, card+" .meta", "61 entries")
	webtest.WantText(t, doc, card+" [data-board=H200]", "10.40 µs")
	webtest.WantText(t, doc, card+" [data-record]", "Record on H200: from")
	if drawn := doc.Find(card+" [data-record] path").AttrOr("d", ""); strings.Count(drawn, "H") != strings.Count(drawn,
		"V") || strings.Count(drawn, "H") < 2 {
		t.Errorf("the record is drawn as %q", drawn)
	}
	if empty := doc.Find("[data-task=prefixsum-cuda] [data-record]").Length(); empty != 0 {
		t.Error("a record is drawn of a task that no one solved")
	}
	if title := doc.Find(card+" [data-board=CPU]").AttrOr("title", ""); title != "No entry yet" {
		t.Errorf("the board without entries says %q", title)
	}
	all := listed(doc)
	if all[0] != s.Task.Slug || all[len(all)-1] != "prefixsum-cuda" {
		t.Errorf("the order is %v, want the one whose deadline is near first, and the closed one last", all)
	}
	builtin := strings.Join(slices.DeleteFunc(slices.Clone(all),
		func(slug string) bool { return slug == s.Task.Slug || slug == "prefixsum-cuda" }), " ")
	if want := "vectoradd-cpp vectoradd-cuda vectoradd-torch softmax-numpy softmax-torch prefixsum-cpp matmul-cpp matmul-torch"; builtin != want {
		t.Errorf("the built-in tasks stand as %s, want them from easy to hard: %s", builtin, want)
	}
}

func TestTasksAreFoundByNameLanguageDeviceAndDeadline(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Title: "Only elsewhere", Devices: []string{"TPU"}}
	if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin,
		catalog.NewTask{Slug: "elsewhere", TaskSettings: settings, Bundle: webtest.ExampleTask(t)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		search url.Values
		want   string // sorted slugs of the found tasks
	}{
		{url.Values{"q": {"MATRIX c++"}}, "matmul-cpp matmul-cuda"},
		{url.Values{"q": {"nothing of this name"}}, ""},
		{url.Values{"q": {"vectoradd"}, "lang": {"py"}}, "vectoradd-torch"},
		{url.Values{"lang": {"cpp"}, "device": {"CPU"}}, "matmul-cpp prefixsum-cpp vectoradd-cpp"},
		{url.Values{"device": {"TPU"}}, "elsewhere"},
		{url.Values{"lang": {"cpp"}, "device": {"online"}}, "matmul-cpp prefixsum-cpp vectoradd-cpp"},
		{url.Values{"show": {"closed"}}, "prefixsum-cuda"},
		{url.Values{"tag": {"scan"}, "lang": {"cpp"}}, "prefixsum-cpp"},
		{url.Values{"tag": {"nobody-has-it"}}, ""},
		{url.Values{"q": {"reduction numpy"}}, "softmax-numpy"},
		{url.Values{"show": {"open"}, "lang": {"cu"}}, "matmul-cuda vectoradd-cuda"},
	} {
		t.Run(c.search.Encode(), func(t *testing.T) {
			doc := s.Browser().Page("/tasks?"+c.search.Encode(), http.StatusOK)
			webtest.CheckSound(t, doc)
			found := listed(doc)
			slices.Sort(found)
			if diff := cmp.Diff(c.want, strings.Join(found, " ")); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			for name, value := range c.search { // the form still has the search parameters
				if form := doc.Find("search form"); form.Find(
					fmt.Sprintf("input[name=%[1]s][value=%[2]q], select[name=%[1]s] option[selected][value=%[2]q]",
						name, value[0])).Length() != 1 {
					t.Errorf("the form forgot %s", name)
				}
			}
		})
	}
}

func TestTagsLeadToTheTasksThatHaveThem(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	chip := `[data-tag="linear-algebra"]`
	for _, page := range []string{"/tasks", "/tasks/" + s.Task.Slug} {
		if to := b.Page(page, http.StatusOK).Find(chip).First().AttrOr("href", ""); to != "/tasks?tag=linear-algebra" {
			t.Errorf("the tag on %s leads to %q", page, to)
		}
	}
	if to := b.Page("/tasks?tag=linear-algebra", http.StatusOK).Find(`search p a`).AttrOr("href",
		""); to != "/tags/linear-algebra" {
		t.Errorf("home leads to the collection at %q", to)
	}
	doc := b.Page("/tags/bandwidth", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "h1 + p", "5 tasks, from easy to hard")
	if all := listed(doc); len(all) != 5 || !strings.HasPrefix(all[2], "vectoradd") ||
		!strings.HasPrefix(all[3], "prefixsum") {
		t.Errorf("the collection is %v, want the beginner's tasks first", all)
	}
	webtest.WantText(t, b.Page("/tags/linear-algebra", http.StatusOK),
		fmt.Sprintf("[data-task=%q] [data-board=H200]", s.Task.Slug), "10.40 µs")
	b.Page("/tags/nobody-has-it", http.StatusNotFound)
	task, err := s.API(accounts.User{}).Task(t.Context(), s.Task.Slug)
	all, listErr := s.API(accounts.User{}).Tasks(t.Context())
	if err != nil || listErr != nil || !slices.Contains(task.Tags, "linear-algebra") ||
		!slices.ContainsFunc(all, func(l client.TaskSummary) bool {
			return l.Slug == s.Task.Slug && slices.Equal(l.Tags, task.Tags)
		}) {
		t.Errorf("the API's tags: %+v, %v, %v", task.Tags, err, listErr)
	}
}

// TestATaskShowsTheDevicesThatAWorkerServes checks that a card shows the boards with a worker, and the number of the
// others, which opens their list without a script.
func TestATaskShowsTheDevicesThatAWorkerServes(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Title: "Many devices",
		Devices: []string{"T4", "H200", "A100", "B200", "L4", "V100", "L40S"}}
	if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin,
		catalog.NewTask{Slug: "many", TaskSettings: settings, Bundle: webtest.ExampleTask(t)}); err != nil {
		t.Fatal(err)
	}
	doc := s.Browser().Page("/tasks?q=many", http.StatusOK)
	webtest.CheckSound(t, doc)
	of := func(chips *goquery.Selection) string {
		return strings.Join(chips.Map(func(_ int, a *goquery.Selection) string { return a.AttrOr("data-board", "") }),
			" ")
	}
	all, rest := doc.Find("[data-task=many] [data-board]"), doc.Find("[data-task=many] details [data-board]")
	if shown := of(all.NotSelection(rest)); shown != "H200" || rest.Length() != 6 {
		t.Errorf("the line shows %q, and %d devices behind their number", shown, rest.Length())
	}
	webtest.WantText(t, doc, "[data-task=many] summary", "+6 offline boards")
	w := s.Window()
	w.Visit("/tasks?q=many")
	w.Eval(`document.querySelector("[data-task=many] summary").click()`)
	w.Until(`document.querySelector("[data-board=L40S]").checkVisibility()`)
	w.LooksRight("tasks-offline")
}

func TestTheTaskSearchIsReachedInTheOrderThatItShows(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	for _, width := range []int64{1280, 390} {
		w.Do(chromedp.EmulateViewport(width, 844))
		w.Visit("/tasks?q=matrix")
		w.Until(`(() => { const boxes = [...document.querySelectorAll("search :is(input, button, select, a)")].map((part) => part.getBoundingClientRect());
			return boxes.length > 5 && boxes.every((box, i) => !i || box.top >= boxes[i - 1].bottom || box.left >= boxes[i - 1].right); })()`)
	}
}

// TestHomeOfManyTasksStaysShort limits the height of a list of fifty tasks on six devices. It once was 20,782 pixels,
// and 41,823 on a phone.
func TestHomeOfManyTasksStaysShort(t *testing.T) {
	s := webtest.NewScene(t)
	devices := []string{"H200", "H100", "A100", "B200", "L4", "T4"}
	for i := range 50 {
		settings := catalog.TaskSettings{Title: fmt.Sprintf("A task of many devices, number %d", i), Devices: devices}
		in := catalog.NewTask{Slug: fmt.Sprintf("many-%d", i), TaskSettings: settings, Bundle: webtest.ExampleTask(t)}
		if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin, in); err != nil {
			t.Fatal(err)
		}
	}
	w := s.Window()
	for width, most := range map[int64]int{1280: 2450, 390: 4050} {
		w.Do(chromedp.EmulateViewport(width, 844))
		w.Visit("/tasks")
		w.Until(`document.querySelectorAll("[data-task]").length == 25`)
		w.Until(fmt.Sprintf(`document.documentElement.scrollHeight < %d && document.documentElement.scrollWidth <= innerWidth`, most))
	}
	w.Do(chromedp.KeyEvent("/"))
	w.Until(`document.activeElement.name == "q"`)
	w.Eval(`document.activeElement.value = "number 43"`)
	w.Do(chromedp.KeyEvent(kb.Enter))
	w.Until(`location.search.includes("number+43") && document.querySelectorAll("[data-task]").length == 1`)
	seen := map[string]bool{}
	for page := 1; page <= 3; page++ {
		for _, slug := range listed(s.Browser().Page(fmt.Sprintf("/tasks?page=%d", page), http.StatusOK)) {
			seen[slug] = true
		}
	}
	if len(seen) != 60 {
		t.Errorf("three pages show %d tasks, want 60", len(seen))
	}
	webtest.WantText(t, s.Browser().Page("/tasks?page=99", http.StatusOK), "#tasks", "This page does not exist")
	w.RefusedNothing()
}

func TestOpenHomeShowsANewLeader(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window()
	w.Visit("/tasks?q=matrix")
	chip := fmt.Sprintf("[data-task=%q] [data-board=H200]", s.Task.Slug)
	w.Shows(chip, "10.40")
	s.Finish(s.Queued, 9.87e3)
	w.Shows(chip, "9.870")
	w.Until(`document.querySelectorAll("[data-task]").length < 10`) // the list still has only the search results
	w.RefusedNothing()
}
