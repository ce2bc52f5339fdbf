package submissions_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

func TestAProfileIsMadeAgainWithAFilter(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	owner, err := s.Cfg.Store.Accounts.User(t.Context(), s.Second.UserID)
	if err != nil {
		t.Fatal(err)
	}
	b, path := s.BrowserOf(owner), webtest.ProfilePath(s.Second)
	if s.BrowserOf(s.Ada).Page(path, http.StatusOK).Find("[data-filter-form]").Length() != 0 {
		t.Error("another person can profile it again")
	}
	page := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, page)
	if n := page.Find("[data-filter-form] input[name=section]").Length(); n != len(job.ProfileSections()) {
		t.Errorf("the form offers %d sections", n)
	}
	page = b.Page(answeredAt(t, b.Post(path, url.Values{"kernel": {"regex:soft(max"}, "launch_count": {"3"}})),
		http.StatusOK)
	webtest.WantText(t, page, "h1", "Profile on H200")

	resp := b.Post(path, url.Values{"kernel": {"regex:softmax.*"}, "launch_skip": {"2"}, "launch_count": {"3"},
		"section": {"Occupancy", "SpeedOfLight"}})
	const filter = "Kernels like softmax.*, launches 3–5, sections Occupancy, SpeedOfLight"
	made := s.Newest(owner)
	if made.Mode != job.ModeProfile || made.Device != "H200" ||
		resp.Request.URL.Path != fmt.Sprintf("/submissions/%d", made.SubmissionID) {
		t.Fatalf("a %s run on %s, at %s", made.Mode, made.Device, resp.Request.URL)
	}
	webtest.WantText(t, b.Page(fmt.Sprintf("/submissions/%d", made.SubmissionID), http.StatusOK), "[data-filter]",
		filter)
	s.EndProfile(made, webtest.FixtureReport(t, "tri"))
	webtest.WantText(t, b.Page(webtest.ProfilePath(made), http.StatusOK), "[data-filter]", filter)
	webtest.WantText(t, s.BrowserOf(s.Ada).Page(webtest.ProfilePath(made), http.StatusOK), "[data-filter]",
		"Kernel (private), launches 3–5")
	text, err := io.ReadAll(b.Get(webtest.ProfilePath(made) + ".txt").Body)
	if err != nil || !strings.HasPrefix(string(text),
		fmt.Sprintf("Profile of submission %d on H200, benchmark case 0\nFilter: %s\n", made.SubmissionID, filter)) {
		t.Errorf("%v: %.200s", err, text)
	}
	if n := b.Page(path, http.StatusOK).Find("[data-filter]").Length(); n != 0 {
		t.Error("the profile of before shows a filter")
	}
}

// answeredAt checks that an invalid profile filter was refused, with the form open and its input kept, and returns the
// page's path.
func answeredAt(t *testing.T, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity {
		t.Fatal(resp.Status, err)
	}
	for _, part := range []string{"pattern is not a regular expression", `value="regex:soft(max"`, "data-filter-form",
		"open"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the refused form is without %s", part)
		}
	}
	return resp.Request.URL.Path
}

func TestProgramsSendAFilterWithModeProfile(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	in := client.NewSubmission{Task: s.Task.Slug, Devices: []string{"H200"}, Mode: job.ModeProfile, FileName: "a.cu",
		Source:        webtest.GoodKernel,
		ProfileFilter: &job.ProfileFilter{Kernel: "softmax_row", LaunchCount: 1}}
	sub, err := s.API(s.Ada).Submit(t.Context(), in)
	if err != nil || !sub.ProfileFilter.Equal(in.ProfileFilter) {
		t.Fatalf("%+v %v", sub, err)
	}
	seen, err := s.API(accounts.User{}).Submission(t.Context(), sub.ID)
	if err != nil || seen.ProfileFilter.Kernel != "(private)" || seen.ProfileFilter.LaunchCount != 1 {
		t.Errorf("others see %+v, %v", seen, err)
	}
	for want, change := range map[string]func(){
		`no section "Speed": choose from SpeedOfLight, `: func() { in.ProfileFilter = &job.ProfileFilter{Sections: []string{"Speed"}} },
		"Only a submission of mode profile": func() {
			in.Mode, in.ProfileFilter = job.ModeTest,
				&job.ProfileFilter{LaunchSkip: 1}
		},
	} {
		change()
		if _, err := s.API(s.Ada).Submit(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTheWorkbenchHasAFilterWithoutJavaScript(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	b, path := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug+"/solve"
	page := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, page)
	if page.Find(
		"details[data-filter-form] input[name=kernel][form=bench-form], details[data-filter-form] button[name=mode][value=profile][form=bench-form]").Length() != 2 ||
		page.Find("form#bench-form").Length() != 1 {
		t.Fatal("the filter does not belong to the form")
	}
	send := func(mode string) *http.Response {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{"_csrf": b.CSRF(), "mode": mode, "device": "H200",
			"source": webtest.GoodKernel, "filename": "a.cu", "kernel": "softmax_row", "launch_skip": "4"} {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		form.Close()
		return b.Send(http.MethodPost, path, &body, "Content-Type", form.FormDataContentType())
	}
	for mode, want := range map[string]string{"profile": "Kernel softmax_row, launches from 5", "test": ""} {
		webtest.WantStatus(t, send(mode), http.StatusOK)
		run := s.Newest(s.Ada)
		page := b.Page(fmt.Sprintf("/submissions/%d", run.SubmissionID), http.StatusOK)
		if got := webtest.Words(page.Find("[data-filter]")); got != want || string(run.Mode) != mode {
			t.Errorf("mode %s: %q", run.Mode, got)
		}
	}
}
