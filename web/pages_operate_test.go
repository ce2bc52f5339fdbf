package web

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
)

// TestOnlyAdminsOperateTheSite through the page alone.
func TestOnlyAdminsOperateTheSite(t *testing.T) {
	s := newScene(t)
	admin, ada := s.browserOf(s.admin), s.browserOf(s.ada)
	wantStatus(t, ada.get("/operate"), http.StatusForbidden)
	wantStatus(t, ada.post("/operate/off", url.Values{"what": {"submissions"}, "why": {"x"}}), http.StatusForbidden)
	wantStatus(t, ada.post("/operate/tokens", url.Values{"name": {"x"}, "devices": {"CPU"}, "most": {"1"}, "days": {"1"}}), http.StatusForbidden)
	if text := body(t, admin.get("/devices")); !strings.Contains(text, `href="/operate"`) {
		t.Error("no page leads to /operate")
	}
	wantStatus(t, admin.post("/operate/off", url.Values{"what": {"submissions"}, "why": {""}}), http.StatusUnprocessableEntity)
	wantStatus(t, admin.post("/operate/off", url.Values{"what": {"submissions"}, "why": {"We <move> the machines."}}), http.StatusOK)
	if text := body(t, admin.get("/operate")); !strings.Contains(text, "We &lt;move&gt; the machines.") || !strings.Contains(text, `data-off="submissions"`) {
		t.Errorf("the page does not say what is off:\n%s", text)
	}
	wantStatus(t, admin.post("/operate/on", url.Values{"what": {"submissions"}}), http.StatusOK)
	modelstest.Submit(t, s.site.Store, s.ada, s.task)

	s.budgets(admin, ada)
	wantStatus(t, ada.get("/operate/storage"), http.StatusForbidden)
	storage := admin.page("/operate/storage", http.StatusOK)
	wantText(t, storage, "[aria-labelledby=by-people]", s.ada.Name)
	wantText(t, storage, "[aria-labelledby=by-tasks]", s.task.Title)
	wantText(t, storage, "[aria-labelledby=storage-next]", "Profiles of runs that were never on a board after 90 days")
	made := body(t, admin.post("/operate/tokens", url.Values{"name": {"spot"}, "devices": {"CPU, H200"}, "most": {"2"}, "days": {"7"}}))
	token := regexp.MustCompile(`wbj_[\w-]+`).FindString(made)
	if _, ok, err := s.site.Store.Fleet.AuthorizeWorker(t.Context(), "spot-1", token+".AAAAAAAAAAAAAAAAAAAA"); !ok || err != nil {
		t.Fatalf("the token %q on the page lets no one in: %v\n%s", token, err, made)
	}
	text := body(t, admin.get("/operate"))
	if strings.Contains(text, token) || !strings.Contains(text, "1 of 2") {
		t.Errorf("the page shows the token again, or not who joined:\n%s", text)
	}
	revoke := regexp.MustCompile(`/operate/tokens/\d+/revoke`).FindString(text)
	wantStatus(t, admin.post(revoke, nil), http.StatusOK)
	if _, ok, _ := s.site.Store.Fleet.AuthorizeWorker(t.Context(), "spot-1", "AAAAAAAAAAAAAAAAAAAA"); ok {
		t.Error("a worker of a revoked token is let in")
	}
}

// budgets are set by admins and shown to whom they are for: account, workbench, API.
func (s *scene) budgets(admin, ada *browser) {
	s.t.Helper()
	workbench := "/tasks/" + s.task.Slug + "/solve"
	if ada.page("/me", http.StatusOK).Find("[data-budget]").Length()+ada.page(workbench, http.StatusOK).Find("[data-budget]").Length() > 0 {
		s.t.Error("a budget is shown where there is none")
	}
	wantStatus(s.t, ada.post("/operate/budgets", url.Values{"seconds": {"9"}}), http.StatusForbidden)
	wantStatus(s.t, admin.post("/operate/budgets", url.Values{"person": {"Unknown person"}, "seconds": {"9"}}), http.StatusUnprocessableEntity)
	wantStatus(s.t, admin.post("/operate/budgets", url.Values{"seconds": {"600"}}), http.StatusOK)
	for _, path := range []string{"/me", workbench} {
		wantText(s.t, ada.page(path, http.StatusOK), "[data-budget]", "600 of 600 GPU-seconds are left today.")
	}
	if _, err := s.site.Store.SQL().ExecContext(s.t.Context(), "insert into charges (user_id, day, unit_ns) values ($1, $2, 1000000000)", s.ada.ID, time.Now().UTC().Format(time.DateOnly)); err != nil {
		s.t.Fatal(err)
	}
	wantStatus(s.t, admin.post("/operate/budgets", url.Values{"person": {s.ada.Name}, "seconds": {"1"}}), http.StatusOK)
	wantText(s.t, ada.page("/me", http.StatusOK), "[data-budget]", "Your GPU budget for today is used up (1 GPU-seconds).")
	row := fmt.Sprintf("[data-budget-of='%d']", s.ada.ID)
	wantText(s.t, admin.page("/operate", http.StatusOK), row, "1 s own")
	_, err := s.api(s.ada).Submit(s.t.Context(), client.NewSubmission{Task: s.task.Slug, Devices: []string{"H200"}, Mode: "test", Source: goodKernel})
	if code(err) != "too_many_requests" && !strings.Contains(fmt.Sprint(err), "budget") {
		s.t.Errorf("a submission after the budget: %v", err)
	}
	me, err := s.api(s.ada).Me(s.t.Context())
	if err != nil || me.Budget == nil || me.Budget.Seconds != 1 || me.Budget.LeftSeconds != 0 || me.Budget.UsedSeconds < 1 {
		s.t.Errorf("the API says %+v, %v", me, err)
	}
	wantStatus(s.t, admin.post("/operate/budgets", url.Values{"person": {s.ada.Name}}), http.StatusOK)
	wantStatus(s.t, admin.post("/operate/budgets", url.Values{"seconds": {"0"}}), http.StatusOK)
	s.teams(admin, ada)
}

// teams are made by admins; a budget of theirs is shown to those who are in them. Ada has used a second today.
func (s *scene) teams(admin, ada *browser) {
	s.t.Helper()
	wantStatus(s.t, ada.post("/operate/teams", url.Values{"team": {"Kernels"}, "seconds": {"9"}}), http.StatusForbidden)
	wantStatus(s.t, admin.post("/operate/teams", url.Values{"team": {"Kernels"}, "person": {"Unknown person"}}), http.StatusUnprocessableEntity)
	wantStatus(s.t, admin.post("/operate/teams", url.Values{"team": {"Kernels"}, "person": {s.ada.Name}}), http.StatusOK)
	if ada.page("/me", http.StatusOK).Find("[data-team-budget]").Length() > 0 {
		s.t.Error("a budget of a team is shown where there is none")
	}
	wantStatus(s.t, admin.post("/operate/teams", url.Values{"team": {"kernels"}, "seconds": {"500"}}), http.StatusOK)
	for _, path := range []string{"/me", "/tasks/" + s.task.Slug + "/solve"} {
		wantText(s.t, ada.page(path, http.StatusOK), "[data-team-budget]", "499 of 500 GPU-seconds of your team Kernels are left today.")
	}
	doc := admin.page("/operate", http.StatusOK)
	wantText(s.t, doc, "[data-team]", "Kernels "+s.ada.Name+" 1 1 s 500 s")
	me, err := s.api(s.ada).Me(s.t.Context())
	if err != nil || me.Budget != nil || me.TeamBudget == nil || me.TeamBudget.Team != "Kernels" || me.TeamBudget.LeftSeconds != 499 {
		s.t.Errorf("the API says %+v, %v", me, err)
	}
	remove := doc.Find("[data-team] form").AttrOr("action", "")
	wantStatus(s.t, ada.post(remove, url.Values{}), http.StatusForbidden)
	wantStatus(s.t, admin.post(remove, url.Values{}), http.StatusOK)
	if admin.page("/operate", http.StatusOK).Find("[data-team]").Length() > 0 {
		s.t.Error("a team that was removed is listed")
	}
}
