package operation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestOnlyAdminsOperateTheSite checks that admins can operate the site with only its page, and that other people get
// 403.
func TestOnlyAdminsOperateTheSite(t *testing.T) {
	s := webtest.NewScene(t)
	admin, ada := s.BrowserOf(s.Admin), s.BrowserOf(s.Ada)
	webtest.WantStatus(t, ada.Get("/operate"), http.StatusForbidden)
	webtest.WantStatus(t, ada.Post("/operate/off", url.Values{"what": {"submissions"}, "why": {"x"}}),
		http.StatusForbidden)
	webtest.WantStatus(t, ada.Post("/operate/tokens",
		url.Values{"name": {"x"}, "devices": {"CPU"}, "most": {"1"}, "days": {"1"}}), http.StatusForbidden)
	if text := webtest.Body(t, admin.Get("/devices")); !strings.Contains(text, `href="/operate"`) {
		t.Error("no page leads to /operate")
	}
	webtest.WantStatus(t, admin.Post("/operate/off", url.Values{"what": {"submissions"}, "why": {""}}),
		http.StatusUnprocessableEntity)
	webtest.WantStatus(t, admin.Post("/operate/off",
		url.Values{"what": {"submissions"}, "why": {"We <move> the machines."}}), http.StatusOK)
	if text := webtest.Body(t, admin.Get("/operate")); !strings.Contains(text, "We &lt;move&gt; the machines.") ||
		!strings.Contains(text, `data-off="submissions"`) {
		t.Errorf("the page does not say what is off:\n%s", text)
	}
	webtest.WantStatus(t, admin.Post("/operate/on", url.Values{"what": {"submissions"}}), http.StatusOK)
	modelstest.Submit(t, s.Cfg.Store, s.Ada, s.Task)

	budgets(s, admin, ada)
	webtest.WantStatus(t, ada.Get("/operate/storage"), http.StatusForbidden)
	storage := admin.Page("/operate/storage", http.StatusOK)
	webtest.WantText(t, storage, "[aria-labelledby=by-people]", s.Ada.Name)
	webtest.WantText(t, storage, "[aria-labelledby=by-tasks]", s.Task.Title)
	webtest.WantText(t, storage, "[aria-labelledby=storage-next]",
		"Profiles of runs that were never on a board after 90 days")
	made := webtest.Body(t, admin.Post("/operate/tokens",
		url.Values{"name": {"spot"}, "devices": {"CPU, H200"}, "most": {"2"}, "days": {"7"}}))
	token := regexp.MustCompile(`wbj_[\w-]+`).FindString(made)
	if _, ok, err := s.Cfg.Store.Fleet.AuthorizeWorker(t.Context(), "spot-1", token+".AAAAAAAAAAAAAAAAAAAA"); !ok ||
		err != nil {
		t.Fatalf("the token %q on the page lets no one in: %v\n%s", token, err, made)
	}
	text := webtest.Body(t, admin.Get("/operate"))
	if strings.Contains(text, token) || !strings.Contains(text, "1 of 2") {
		t.Errorf("the page shows the token again, or not who joined:\n%s", text)
	}
	revoke := regexp.MustCompile(`/operate/tokens/\d+/revoke`).FindString(text)
	webtest.WantStatus(t, admin.Post(revoke, nil), http.StatusOK)
	if _, ok, _ := s.Cfg.Store.Fleet.AuthorizeWorker(t.Context(), "spot-1", "AAAAAAAAAAAAAAAAAAAA"); ok {
		t.Error("a worker of a revoked token is let in")
	}
}

// budgets checks that only admins can set budgets of GPU time, and that the account page, the workbench, and the API
// show a person's budget.
func budgets(s *webtest.Scene, admin, ada *webtest.Browser) {
	s.T.Helper()
	workbench := "/tasks/" + s.Task.Slug + "/solve"
	if ada.Page("/me", http.StatusOK).Find("[data-budget]").Length()+ada.Page(workbench,
		http.StatusOK).Find("[data-budget]").Length() > 0 {
		s.T.Error("a budget is shown where there is none")
	}
	webtest.WantStatus(s.T, ada.Post("/operate/budgets", url.Values{"seconds": {"9"}}), http.StatusForbidden)
	webtest.WantStatus(s.T, admin.Post("/operate/budgets", url.Values{"person": {"Unknown person"}, "seconds": {"9"}}),
		http.StatusUnprocessableEntity)
	webtest.WantStatus(s.T, admin.Post("/operate/budgets", url.Values{"seconds": {"600"}}), http.StatusOK)
	for _, path := range []string{"/me", workbench} {
		webtest.WantText(s.T, ada.Page(path, http.StatusOK), "[data-budget]", "600 of 600 GPU-seconds are left today.")
	}
	if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(),
		"insert into charges (user_id, day, unit_ns) values ($1, $2, 1000000000)", s.Ada.ID,
		time.Now().UTC().Format(time.DateOnly)); err != nil {
		s.T.Fatal(err)
	}
	webtest.WantStatus(s.T, admin.Post("/operate/budgets", url.Values{"person": {s.Ada.Name}, "seconds": {"1"}}),
		http.StatusOK)
	webtest.WantText(s.T, ada.Page("/me", http.StatusOK), "[data-budget]",
		"Your GPU budget for today is used up (1 GPU-seconds).")
	row := fmt.Sprintf("[data-budget-of='%d']", s.Ada.ID)
	webtest.WantText(s.T, admin.Page("/operate", http.StatusOK), row, "1 s own")
	_, err := s.API(s.Ada).Submit(s.T.Context(),
		client.NewSubmission{Task: s.Task.Slug, Devices: []string{"H200"}, Mode: "test", Source: webtest.GoodKernel})
	if webtest.Code(err) != "too_many_requests" && !strings.Contains(fmt.Sprint(err), "budget") {
		s.T.Errorf("a submission after the budget: %v", err)
	}
	me, err := s.API(s.Ada).CurrentUser(s.T.Context())
	if err != nil || me.Budget == nil || me.Budget.Seconds != 1 || me.Budget.LeftSeconds != 0 ||
		me.Budget.UsedSeconds < 1 {
		s.T.Errorf("the API says %+v, %v", me, err)
	}
	webtest.WantStatus(s.T, admin.Post("/operate/budgets", url.Values{"person": {s.Ada.Name}}), http.StatusOK)
	webtest.WantStatus(s.T, admin.Post("/operate/budgets", url.Values{"seconds": {"0"}}), http.StatusOK)
	teams(s, admin, ada)
}

// teams checks that only admins can create teams, and that the members of a team see its budget of GPU time. Ada has
// used 1 s today.
func teams(s *webtest.Scene, admin, ada *webtest.Browser) {
	s.T.Helper()
	webtest.WantStatus(s.T, ada.Post("/operate/teams", url.Values{"team": {"Kernels"}, "seconds": {"9"}}),
		http.StatusForbidden)
	webtest.WantStatus(s.T, admin.Post("/operate/teams", url.Values{"team": {"Kernels"}, "person": {"Unknown person"}}),
		http.StatusUnprocessableEntity)
	webtest.WantStatus(s.T, admin.Post("/operate/teams", url.Values{"team": {"Kernels"}, "person": {s.Ada.Name}}),
		http.StatusOK)
	if ada.Page("/me", http.StatusOK).Find("[data-team-budget]").Length() > 0 {
		s.T.Error("a budget of a team is shown where there is none")
	}
	webtest.WantStatus(s.T, admin.Post("/operate/teams", url.Values{"team": {"kernels"}, "seconds": {"500"}}),
		http.StatusOK)
	for _, path := range []string{"/me", "/tasks/" + s.Task.Slug + "/solve"} {
		webtest.WantText(s.T, ada.Page(path, http.StatusOK), "[data-team-budget]",
			"499 of 500 GPU-seconds of your team Kernels are left today.")
	}
	doc := admin.Page("/operate", http.StatusOK)
	webtest.WantText(s.T, doc, "[data-team]", "Kernels "+s.Ada.Name+" Remove 1 s Save Delete team")
	if got := doc.Find("[data-team] [name=seconds]").AttrOr("value", ""); got != "500" {
		s.T.Errorf("the budget of the team is shown as %q", got)
	}
	me, err := s.API(s.Ada).CurrentUser(s.T.Context())
	if err != nil || me.Budget != nil || me.TeamBudget == nil || me.TeamBudget.Team != "Kernels" ||
		me.TeamBudget.LeftSeconds != 499 {
		s.T.Errorf("the API says %+v, %v", me, err)
	}
	leave := doc.Find("[data-team] form[action$='/leave']").AttrOr("action", "")
	person := func() url.Values {
		return url.Values{"person": {doc.Find("[data-team] button[name=person]").AttrOr("value", "")}}
	}
	webtest.WantStatus(s.T, ada.Post(leave, person()), http.StatusForbidden)
	webtest.WantStatus(s.T, admin.Post(leave, nil), http.StatusUnprocessableEntity)
	webtest.WantStatus(s.T, admin.Post(leave, person()), http.StatusOK)
	if ada.Page("/me", http.StatusOK).Find("[data-team-budget]").Length() > 0 {
		s.T.Error("a person who was removed from a team has its budget")
	}
	webtest.WantStatus(s.T, admin.Post("/operate/teams", url.Values{"person": {s.Ada.Name}}),
		http.StatusUnprocessableEntity)
	remove := doc.Find("[data-team] form[action$='/remove']").AttrOr("action", "")
	webtest.WantStatus(s.T, ada.Post(remove, url.Values{}), http.StatusForbidden)
	webtest.WantStatus(s.T, admin.Post(remove, url.Values{}), http.StatusOK)
	if admin.Page("/operate", http.StatusOK).Find("[data-team]").Length() > 0 {
		s.T.Error("a team that was removed is listed")
	}
}
