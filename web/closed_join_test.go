package web

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
)

// TestAStreamEndsWhenItsReaderIsRemoved: what is sent later is not for them.
func TestAStreamEndsWhenItsReaderIsRemoved(t *testing.T) {
	s := newStage(t)
	s.stop()
	s.testSite = startSiteAt(t, "127.0.0.1:0", s.site.Store, func(c *Config) { c.Heartbeat = time.Millisecond })
	run := modelstest.Submit(t, s.site.Store, s.creator, s.task)[0]
	s.change(s.task, catalog.TaskSettings{Visibility: catalog.Members})
	code, _, err := s.site.Store.Members.CreateInvite(t.Context(), s.creator, s.task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.Members.Join(t.Context(), s.user.ID, code); err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), s.user.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	r := s.open(fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID), "", "Authorization", "Bearer "+secret)
	r.want(1)
	if err := s.site.Store.Members.Remove(t.Context(), s.creator, s.task.ID, s.user.ID); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { t.Error("the stream goes on"); r.cancel() })
	defer late.Stop()
	if e, ok := r.next(); ok {
		t.Errorf("who was removed is told %+v", e)
	}
}

func TestPeopleJoinAMembersBoardByALink(t *testing.T) {
	s := newClosedScene(t)
	owner, other := s.browserFor(s.users["owner"]), s.browserFor(s.users["other"])
	for form, want := range map[string]string{"most=0": "is not a whole number from 1 on", "days=400": "valid for at most 366 days", "most=x": "is not a whole number"} {
		name, value, _ := strings.Cut(form, "=")
		resp := owner.post("/tasks/quiet/invites", map[string][]string{name: {value}})
		if text := body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", form, resp.Status, want)
		}
	}
	doc := document(t, owner.post("/tasks/quiet/invites", map[string][]string{"note": {"course"}, "most": {"1"}, "days": {"7"}}), http.StatusOK)
	link := doc.Find("#new-link").Text()
	code, ok := strings.CutPrefix(link, s.site.Settings.BaseURL+"/join/")
	if !ok || len(code) < 40 || strings.Contains(body(t, owner.get("/tasks/quiet/members")), code) {
		t.Fatalf("the link is %q", link)
	}
	visitor := s.browser()
	resp := visitor.get("/join/" + code)
	if want := "/sign-in?next=%2Fjoin%2F" + code; resp.Request.URL.RequestURI() != want {
		t.Errorf("a visitor comes to %s, want %s", resp.Request.URL.RequestURI(), want)
	}
	if page := body(t, other.get("/join/"+code)); !strings.Contains(page, "Join "+quietTitle) || !strings.Contains(page, "owner") {
		t.Errorf("who has a link reads %s", page)
	}
	wantStatus(t, other.get("/tasks/quiet"), http.StatusNotFound) // looking joined nothing
	wantStatus(t, other.send(http.MethodPost, "/join", strings.NewReader("code="+code), "Content-Type", "application/x-www-form-urlencoded"), http.StatusForbidden)
	if page := body(t, other.post("/join", map[string][]string{"code": {link}})); !strings.Contains(page, "You are in.") || !strings.Contains(page, quietTitle) {
		t.Errorf("who joined reads %s", page)
	}
	wantStatus(t, other.get("/join/"+code), http.StatusOK) // the task
	late := s.browserFor(modelstest.Person(t, s.site.Store, "late", accounts.RoleUser))
	for _, resp := range []*http.Response{late.get("/join/" + code), late.post("/join", map[string][]string{"code": {code}})} {
		if text := body(t, resp); resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "This invite code is used up. Ask the author of the task for another.") || strings.Contains(text, quietTitle) {
			t.Errorf("the second: %s %s", resp.Status, text)
		}
	}
	page := owner.page("/tasks/quiet/members", http.StatusOK)
	id := fmt.Sprint(s.users["other"].ID)
	if row := page.Find(`tr[data-member="` + id + `"]`).Text(); !strings.Contains(row, "other") || !strings.Contains(row, "course") || !strings.Contains(row, code[:10]) {
		t.Errorf("who used which code: %q", row)
	}
	if text := body(t, owner.post("/tasks/quiet/members/"+id+"/remove", nil)); !strings.Contains(text, "Removed.") {
		t.Errorf("after removing: %s", text)
	}
	wantStatus(t, other.get("/tasks/quiet"), http.StatusNotFound)
	wantStatus(t, other.get("/tasks/quiet/members"), http.StatusNotFound)
	wantStatus(t, s.browserFor(s.users["member"]).get("/tasks/quiet/members"), http.StatusForbidden)
}

// TestNothingIsDoneToAMembersBoardByOthers: each form and request is answered as for a task that does not exist.
func TestNothingIsDoneToAMembersBoardByOthers(t *testing.T) {
	s := newClosedScene(t)
	other, creator := s.browserFor(s.users["other"]), s.browserFor(modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator))
	form := url.Values{"source": {"int x;"}, "device": {"CPU"}, "mode": {"ranked"}, "text": {"It cheats."}, "reason": {"It cheats."}, "note": {"x"}, "confirm": {"quiet"}}
	run, sub := fmt.Sprintf("/runs/%d", s.run.ID), fmt.Sprintf("/submissions/%d", s.run.SubmissionID)
	for _, path := range []string{"/tasks/quiet/submit", "/tasks/quiet/solve", "/tasks/quiet/edit", "/tasks/quiet/invites", "/tasks/quiet/invites/1/revoke", "/tasks/quiet/members/1/remove",
		"/tasks/quiet/delete", "/tasks/quiet/trial", "/tasks/quiet/rejudge", run + "/report", run + "/note", run + "/dismiss", run + "/disqualify", sub + "/cancel", sub + "/delete"} {
		for who, b := range map[string]*browser{"a user": other, "another author": creator} {
			absent := b.post(strings.NewReplacer("quiet", "absent", run, "/runs/99", sub, "/submissions/99").Replace(path), maps.Clone(form))
			resp := b.post(path, maps.Clone(form))
			if text := body(t, resp); resp.StatusCode != absent.StatusCode || resp.StatusCode < 400 || strings.Contains(text, quietTitle) {
				t.Errorf("%s at %s: %s, where a task that does not exist is %s", who, path, resp.Status, absent.Status)
			}
		}
	}
	for _, in := range []struct {
		role, more string
		want       int
	}{
		{"other", "", http.StatusNotFound}, {"member", "", http.StatusForbidden}, // the deadline has passed
		{"admin", `,"for":"member","why":"The site was down."`, http.StatusCreated}, {"admin", `,"for":"other","why":"The site was down."`, http.StatusUnprocessableEntity},
	} {
		resp := s.browser().send(http.MethodPost, "/api/v1/submissions", strings.NewReader(`{"task":"quiet","source":"int x;","file_name":"a.cpp"`+in.more+`}`),
			"Content-Type", "application/json", "Authorization", "Bearer "+s.tokens[in.role])
		if text := body(t, resp); resp.StatusCode != in.want {
			t.Errorf("%s submits%s: %s %s, want %d", in.role, in.more, resp.Status, text, in.want)
		}
	}
	if _, _, err := s.popcorn(s.users["other"]).Accept(t.Context(), "quiet", "CPU", "test", "a.cpp", []byte("int x;\n")); !strings.HasPrefix(refused(err), `404 There is no task "quiet".`) {
		t.Error(err)
	}
}

// TestAnOldFormDoesNotOpenAMembersBoard: one without a visibility, and the one that publishes a task that was tried.
func TestAnOldFormDoesNotOpenAMembersBoard(t *testing.T) {
	s := newClosedScene(t)
	owner := s.browserFor(s.users["owner"])
	for _, path := range []string{"/tasks/quiet/edit", "/tasks/quiet/trial/publish"} {
		wantStatus(t, owner.post(path, url.Values{"title": {quietTitle}, "device": {"CPU"}}), http.StatusOK)
		if task, err := s.site.Store.Catalog.Task(t.Context(), "quiet"); err != nil || task.Visibility != catalog.Members {
			t.Errorf("%s made the task %s, %v", path, task.Visibility, err)
		}
	}
	for visibility, noindex := range map[string]bool{"unlisted": true, "public": false} {
		wantStatus(t, owner.post("/tasks/quiet/edit", url.Values{"title": {quietTitle}, "device": {"CPU"}, "visibility": {visibility}}), http.StatusOK)
		for _, path := range []string{"/tasks/quiet", "/tasks/quiet/boards/CPU"} {
			if page := body(t, s.browser().get(path)); strings.Contains(page, `content="noindex"`) != noindex {
				t.Errorf("%s of an %s task keeps search engines out: %v", path, visibility, !noindex)
			}
		}
	}
}

func TestTheLogHasNoInviteCodes(t *testing.T) {
	var log bytes.Buffer
	s := startSite(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	body(t, s.browser().get("/join/wbi_secret"))
	s.stop()
	if text := log.String(); strings.Contains(text, "wbi_secret") || !strings.Contains(text, "path=/join/…") {
		t.Errorf("the log is %s", text)
	}
}

// TestInviteCodesAreNotTriedByTheHundred: on the page, in the API and by popcorn-cli alike.
func TestInviteCodesAreNotTriedByTheHundred(t *testing.T) {
	s := newClosedScene(t)
	other := s.browserFor(s.users["other"])
	for i := range 20 {
		wantStatus(t, other.get(fmt.Sprintf("/join/wbi_guess%d", i)), http.StatusNotFound)
	}
	wantProblem(t, s.browser().send(http.MethodPost, "/api/v1/join", strings.NewReader(`{"code":"wbi_guess"}`), "Content-Type", "application/json", "Authorization", "Bearer "+s.tokens["other"]),
		http.StatusTooManyRequests, "too_many")
	if _, err := s.popcorn(s.users["other"]).Join(t.Context(), "wbi_guess"); !strings.HasPrefix(refused(err), "429 You are trying invite codes too often.") {
		t.Error(err)
	}
	wantStatus(t, other.get("/tasks"), http.StatusOK)
}

func TestProgramsJoinAMembersBoard(t *testing.T) {
	s := newClosedScene(t)
	code, _, err := s.site.Store.Members.CreateInvite(t.Context(), s.users["owner"], s.task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if joined, err := s.api(s.users["other"]).Join(t.Context(), code); err != nil || joined.Task != "quiet" || joined.Title != quietTitle || !slices.Equal(joined.Devices, []string{"CPU"}) {
		t.Errorf("%+v, %v", joined, err)
	}
	late := modelstest.Person(t, s.site.Store, "late", accounts.RoleUser)
	if text, err := s.popcorn(late).Join(t.Context(), code); err != nil || string(text) != `{"leaderboards":["quiet"]}` {
		t.Errorf("%s, %v", text, err)
	}
	if list, err := s.popcorn(late).Leaderboards(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("popcorn-cli lists %+v, %v", list, err)
	}
	wantProblem(t, s.browser().send(http.MethodPost, "/api/v1/join", strings.NewReader(`{"code":"`+code+`"}`), "Content-Type", "application/json"), http.StatusUnauthorized, "unauthorized")
}

func TestPagesOfMembersBoardsLookRight(t *testing.T) {
	s := newScene(t)
	_, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Visibility: catalog.Members})
	if err != nil {
		t.Fatal(err)
	}
	open := ""
	for _, n := range []struct {
		membership.NewInvite
		people []string
	}{
		{membership.NewInvite{Note: "Course on GPU programming, autumn term", Most: 30, For: 90 * 24 * time.Hour}, []string{"Radia Perlman", "Tony Hoare"}},
		{membership.NewInvite{Note: "guest", Most: 1}, []string{"Ken Thompson"}},
		{},
	} {
		if open, _, err = s.site.Store.Members.CreateInvite(t.Context(), s.admin, s.task.ID, n.NewInvite); err != nil {
			t.Fatal(err)
		}
		for _, name := range n.people {
			if _, err := s.site.Store.Members.Join(t.Context(), modelstest.Person(t, s.site.Store, name, accounts.RoleUser).ID, open); err != nil {
				t.Fatal(err)
			}
		}
	}
	task := "/tasks/" + s.task.Slug
	w := s.window().as(s.browserOf(s.admin))
	w.open(task + "/members")
	w.looksRight("members")
	w.Do(chromedp.SetValue("#invite-note", "reviewers"), chromedp.Click("section form .btn:not(.btn-small)"), chromedp.WaitVisible("#new-link"))
	w.looksRight("members-link")
	w.open(task + "/edit")
	w.looksRight("task-edit")
	w.open(task)
	w.looksRight("task-members")
	w = s.window().as(s.browserOf(s.ada))
	w.open("/join/" + open)
	w.looksRight("join")
	w.open("/join/wbi_mistyped")
	w.looksRight("join-refused")
}
