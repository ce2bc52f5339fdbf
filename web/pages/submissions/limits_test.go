package submissions_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/web/webtest"
)

// limits changes the submission limits in the settings of the scene's task, as an admin.
func limits(s *webtest.Scene, change func(url.Values)) *http.Response {
	s.T.Helper()
	b := s.BrowserOf(s.Admin)
	values := webtest.Fields(b.Page("/tasks/"+s.Task.Slug+"/edit", http.StatusOK).Find("form[action$='/edit']"))
	values["device"] = s.Task.Devices
	change(values)
	return b.Post("/tasks/"+s.Task.Slug+"/edit", values)
}

// TestATasksLimitsAreShownInAdvance checks that the workbench and the API show a task's limits before they are reached,
// and the time from which another submission is allowed.
func TestATasksLimitsAreShownInAdvance(t *testing.T) {
	s := webtest.NewScene(t)
	webtest.WantStatus(t, limits(s, func(v url.Values) {
		v.Set("limit-test-hour-submissions", "2")
		v.Set("limit-all-day-gpu-seconds", "600")
	}), http.StatusOK)
	saved := s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug+"/edit", http.StatusOK)
	if saved.Find("[name=limit-test-hour-submissions]").AttrOr("value", "") != "2" ||
		saved.Find("details[data-limits][open]").Length() != 1 {
		t.Error("the limits do not come back")
	}
	b, path := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug
	webtest.WantText(t, b.Page(path+"/solve", http.StatusOK), "#bench-limits",
		"Each person may send 600 GPU-seconds a day; 2 test submissions an hour.")
	left := func() string {
		return strings.Join(strings.Fields(webtest.Document(t, b.Get(path+"/solve/limits", "HX-Request", "true"),
			http.StatusOK).Text()), " ")
	}
	had := left()
	if !strings.Contains(had, "of 600 GPU-seconds left per day") ||
		!strings.Contains(had, "of 2 test submissions left per hour") {
		t.Errorf("left: %s", had)
	}
	form := url.Values{"source": {"// one"}, "device": {"H200"}, "mode": {"test"}}
	for _, source := range []string{"// one", "// two"} {
		form.Set("source", source)
		b.Upload(path+"/submit", "", "", nil, form)
	}
	resp := b.Upload(path+"/submit", "", "", nil, form)
	if after, _ := strconv.Atoi(resp.Header.Get("Retry-After")); after < 60 {
		t.Errorf("Retry-After: %q", resp.Header.Get("Retry-After"))
	}
	webtest.WantText(t, webtest.Document(t, resp, http.StatusTooManyRequests), "[role=alert]",
		"at most 2 test submissions an hour")
	if now := left(); !strings.Contains(now, "2 test submissions an hour: used up until") {
		t.Errorf("left: %s", now)
	}
	var task client.Task
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1/tasks/"+s.Task.Slug))), &task); err != nil ||
		len(task.Limits) != 2 || task.Limits[1].FreeAt == nil {
		t.Fatalf("limits %+v, %v", task.Limits, err)
	}
	task.Limits[1].FreeAt = nil
	want := client.TaskLimit{Mode: job.ModeTest, Period: "hour", Submissions: 2}
	if diff := cmp.Diff(want, task.Limits[1]); diff != "" {
		t.Error(diff)
	}
	for field, words := range map[string]string{"limit-test-hour-submissions": "1 to 10000",
		"limit-ranked-day-gpu-seconds": "not a whole number"} {
		refused := webtest.Document(t, limits(s, func(v url.Values) {
			v.Set(field, map[bool]string{true: "many", false: "-3"}[strings.Contains(words, "whole")])
		}), http.StatusUnprocessableEntity)
		webtest.WantText(t, refused, "[role=alert]", words)
	}
}

// TestWorkbenchSaysWhatIsLeftAfterEachRun checks that the number of remaining submissions is updated without a reload.
func TestWorkbenchSaysWhatIsLeftAfterEachRun(t *testing.T) {
	s := webtest.NewScene(t)
	limits(s, func(v url.Values) {
		v.Set("limit-test-hour-submissions", "2")
		v.Set("limit-all-day-gpu-seconds", "600")
	})
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Shows("#bench-limits", "2 of 2 test submissions left per hour")
	w.Types(webtest.GoodKernel)
	w.Eval(`document.querySelector("[data-key=enter]").click()`)
	w.Shows("#bench-limits", "1 of 2 test submissions left per hour")
	w.LooksRight("bench-limits")
	w.As(s.BrowserOf(s.Admin)).Visit("/tasks/" + s.Task.Slug + "/edit")
	w.LooksRight("task-limits")
	w.RefusedNothing()
}
