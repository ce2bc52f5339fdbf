package account_test

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
	"warpboard/web"
	"warpboard/web/webtest"
)

// TestAStreamEndsWhenItsReaderIsRemoved checks that a member who is removed from a task receives no more of its events.
func TestAStreamEndsWhenItsReaderIsRemoved(t *testing.T) {
	s := webtest.NewStage(t)
	s.Stop()
	s.Site = webtest.StartAt(t, "127.0.0.1:0", s.Cfg.Store, func(c *web.Config) { c.Heartbeat = time.Millisecond })
	run := modelstest.Submit(t, s.Cfg.Store, s.Creator, s.Task)[0]
	s.Change(s.Task, catalog.TaskSettings{Visibility: catalog.Members})
	code, _, err := s.Cfg.Store.Members.CreateInvite(t.Context(), s.Creator, s.Task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.Members.Join(t.Context(), s.User.ID, code); err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.User.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Open(fmt.Sprintf("/api/v1/submissions/%d/events", run.SubmissionID), "", "Authorization", "Bearer "+secret)
	r.Want(1)
	if err := s.Cfg.Store.Members.Remove(t.Context(), s.Creator, s.Task.ID, s.User.ID); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { t.Error("the stream goes on"); r.Cancel() })
	defer late.Stop()
	if e, ok := r.Next(); ok {
		t.Errorf("who was removed is told %+v", e)
	}
}

func TestPeopleJoinAMembersBoardByALink(t *testing.T) {
	s := webtest.NewClosedScene(t)
	owner, other := s.BrowserFor(s.Users["owner"]), s.BrowserFor(s.Users["other"])
	for form, want := range map[string]string{"most=0": "is not a whole number from 1 on",
		"days=400": "valid for at most 366 days", "most=x": "is not a whole number"} {
		name, value, _ := strings.Cut(form, "=")
		resp := owner.Post("/tasks/quiet/invites", map[string][]string{name: {value}})
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", form, resp.Status, want)
		}
	}
	doc := webtest.Document(t, owner.Post("/tasks/quiet/invites",
		map[string][]string{"note": {"course"}, "most": {"1"}, "days": {"7"}}), http.StatusOK)
	link := doc.Find("#new-link").Text()
	code, ok := strings.CutPrefix(link, s.Cfg.Settings.BaseURL+"/join/")
	if !ok || len(code) < 40 || strings.Contains(webtest.Body(t, owner.Get("/tasks/quiet/members")), code) {
		t.Fatalf("the link is %q", link)
	}
	visitor := s.Browser()
	resp := visitor.Get("/join/" + code)
	if want := "/sign-in?next=%2Fjoin%2F" + code; resp.Request.URL.RequestURI() != want {
		t.Errorf("a visitor comes to %s, want %s", resp.Request.URL.RequestURI(), want)
	}
	webtest.WantText(t, visitor.Page("/join/"+code, http.StatusOK), "[data-invite]",
		"owner invites you to "+webtest.QuietTitle+" . Sign in to join.")
	if n := visitor.Page("/sign-in?next=/join/wbi_mistyped", http.StatusOK).Find("[data-invite]").Length(); n != 0 {
		t.Error("a wrong code names a task")
	}
	if page := webtest.Body(t, other.Get("/join/"+code)); !strings.Contains(page, "Join "+webtest.QuietTitle) ||
		!strings.Contains(page, "owner") {
		t.Errorf("who has a link reads %s", page)
	}
	// only viewing the link does not make a member
	webtest.WantStatus(t, other.Get("/tasks/quiet"), http.StatusNotFound)
	webtest.WantStatus(t, other.Send(http.MethodPost, "/join", strings.NewReader("code="+code), "Content-Type",
		"application/x-www-form-urlencoded"), http.StatusForbidden)
	if page := webtest.Body(t, other.Post("/join", map[string][]string{"code": {link}})); !strings.Contains(page,
		"You joined this task.") || !strings.Contains(page, webtest.QuietTitle) {
		t.Errorf("who joined reads %s", page)
	}
	// For a member, the page of the link has a form for leaving the task.
	if link := other.Page("/join/"+code, http.StatusOK).Find("[data-leave] form").AttrOr("action",
		""); link != "/tasks/quiet/leave" {
		t.Errorf("a member leaves at %q", link)
	}
	late := s.BrowserFor(modelstest.Person(t, s.Cfg.Store, "late", accounts.RoleUser))
	for _, resp := range []*http.Response{late.Get("/join/" + code),
		late.Post("/join", map[string][]string{"code": {code}})} {
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(text, "This invite code is used up. Ask the author of the task for another.") ||
			strings.Contains(text, webtest.QuietTitle) {
			t.Errorf("the second: %s %s", resp.Status, text)
		}
	}
	page := owner.Page("/tasks/quiet/members", http.StatusOK)
	id := fmt.Sprint(s.Users["other"].ID)
	if row := page.Find(`tr[data-member="` + id + `"]`).Text(); !strings.Contains(row, "other") ||
		!strings.Contains(row, "course") || !strings.Contains(row, code[:10]) {
		t.Errorf("who used which code: %q", row)
	}
	if text := webtest.Body(t, owner.Post("/tasks/quiet/members/"+id+"/remove", nil)); !strings.Contains(text,
		"Removed.") {
		t.Errorf("after removing: %s", text)
	}
	webtest.WantStatus(t, other.Get("/tasks/quiet"), http.StatusNotFound)
	webtest.WantStatus(t, other.Get("/tasks/quiet/members"), http.StatusNotFound)
	webtest.WantStatus(t, s.BrowserFor(s.Users["member"]).Get("/tasks/quiet/members"), http.StatusForbidden)
}

// TestAMemberLeavesTheBoard checks that a member can leave on the task's page and through the API, and then gets 404
// for the task.
func TestAMemberLeavesTheBoard(t *testing.T) {
	s := webtest.NewClosedScene(t)
	member := s.BrowserFor(s.Users["member"])
	code := s.Invite(s.Task)
	webtest.WantText(t, webtest.Document(t, member.Post("/tasks/quiet/leave", nil), http.StatusOK), "[role=status]",
		"You left the board.")
	webtest.WantStatus(t, member.Get("/tasks/quiet"), http.StatusNotFound)
	webtest.WantStatus(t, member.Post("/tasks/quiet/leave", nil), http.StatusNotFound)
	api := s.API(s.Users["member"])
	joined, err := api.JoinBoard(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := api.LeaveBoard(t.Context(), joined.Task); err != nil {
		t.Fatal(err)
	}
	webtest.WantStatus(t, member.Get("/tasks/quiet"), http.StatusNotFound)
	owner := s.BrowserFor(s.Users["owner"])
	webtest.WantStatus(t, owner.Post("/tasks/quiet/leave", nil), http.StatusNotFound)
	if n := owner.Page("/tasks/quiet", http.StatusOK).Find("[data-leave]").Length(); n != 0 {
		t.Error("the author is asked to leave")
	}
}

// TestNothingIsDoneToAMembersBoardByOthers checks that people who are not members get 404 for each form and request, as
// if the task did not exist.
func TestNothingIsDoneToAMembersBoardByOthers(t *testing.T) {
	s := webtest.NewClosedScene(t)
	other, creator := s.BrowserFor(s.Users["other"]),
		s.BrowserFor(modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator))
	form := url.Values{"source": {"int x;"}, "device": {"CPU"}, "mode": {"ranked"}, "text": {"It cheats."},
		"reason": {"It cheats."}, "note": {"x"}, "confirm": {"quiet"}}
	run, sub := fmt.Sprintf("/runs/%d", s.Run.ID), fmt.Sprintf("/submissions/%d", s.Run.SubmissionID)
	for _, path := range []string{"/tasks/quiet/submit", "/tasks/quiet/solve", "/tasks/quiet/edit",
		"/tasks/quiet/invites", "/tasks/quiet/invites/1/revoke", "/tasks/quiet/members/1/remove", "/tasks/quiet/leave",
		"/tasks/quiet/delete", "/tasks/quiet/trial", "/tasks/quiet/rejudge", run + "/report", run + "/note",
		run + "/dismiss", run + "/disqualify", sub + "/cancel", sub + "/delete"} {
		for who, b := range map[string]*webtest.Browser{"a user": other, "another author": creator} {
			absent := b.Post(strings.NewReplacer("quiet", "absent", run, "/runs/99", sub,
				"/submissions/99").Replace(path), maps.Clone(form))
			resp := b.Post(path, maps.Clone(form))
			if text := webtest.Body(t, resp); resp.StatusCode != absent.StatusCode || resp.StatusCode < 400 ||
				strings.Contains(text, webtest.QuietTitle) {
				t.Errorf("%s at %s: %s, where a task that does not exist is %s", who, path, resp.Status, absent.Status)
			}
		}
	}
	for _, in := range []struct {
		role, more string
		want       int
	}{
		{"other", "", http.StatusNotFound}, {"member", "", http.StatusForbidden}, // member: after the deadline
		{"admin", `,"for":"member","why":"The site was down."`, http.StatusCreated},
		{"admin", `,"for":"other","why":"The site was down."`, http.StatusUnprocessableEntity},
	} {
		resp := s.Browser().Send(http.MethodPost, "/api/v1/submissions",
			strings.NewReader(`{"task":"quiet","source":"int x;","file_name":"a.cpp"`+in.more+`}`),
			"Content-Type", "application/json", "Authorization", "Bearer "+s.Tokens[in.role])
		if text := webtest.Body(t, resp); resp.StatusCode != in.want {
			t.Errorf("%s submits%s: %s %s, want %d", in.role, in.more, resp.Status, text, in.want)
		}
	}
	if _, _, err := s.Popcorn(s.Users["other"]).Accept(t.Context(), "quiet", "CPU", "test", "a.cpp",
		[]byte("int x;\n")); !strings.HasPrefix(webtest.Refused(err), `404 There is no task "quiet".`) {
		t.Error(err)
	}
}

// TestAnOldFormDoesNotOpenAMembersBoard checks that neither a settings form without a visibility nor the publish form
// of a tried draft makes a members' task public.
func TestAnOldFormDoesNotOpenAMembersBoard(t *testing.T) {
	s := webtest.NewClosedScene(t)
	owner := s.BrowserFor(s.Users["owner"])
	for _, path := range []string{"/tasks/quiet/edit", "/tasks/quiet/trial/publish"} {
		webtest.WantStatus(t, owner.Post(path, url.Values{"title": {webtest.QuietTitle}, "device": {"CPU"}}),
			http.StatusOK)
		if task, err := s.Cfg.Store.Catalog.Task(t.Context(), "quiet"); err != nil ||
			task.Visibility != catalog.Members {
			t.Errorf("%s made the task %s, %v", path, task.Visibility, err)
		}
	}
	for visibility, noindex := range map[string]bool{"unlisted": true, "public": false} {
		webtest.WantStatus(t, owner.Post("/tasks/quiet/edit",
			url.Values{"title": {webtest.QuietTitle}, "device": {"CPU"}, "visibility": {visibility}}), http.StatusOK)
		for _, path := range []string{"/tasks/quiet", "/tasks/quiet/boards/CPU"} {
			if page := webtest.Body(t, s.Browser().Get(path)); strings.Contains(page, `content="noindex"`) != noindex {
				t.Errorf("%s of an %s task keeps search engines out: %v", path, visibility, !noindex)
			}
		}
	}
}

func TestTheLogHasNoInviteCodes(t *testing.T) {
	var log bytes.Buffer
	s := webtest.Start(t, func(c *web.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, path := range []string{"/join/wbi_secret", "/JOIN/wbi_secret", "/join%2fwbi_secret", "/join%252Fwbi_secret",
		"/j%6fin/wbi_secret", "/inbox/OFF/1.wbi_secret", "/Inbox%2Foff/1.wbi_secret", "/inbox/confirm/wbi_secret?x"} {
		webtest.Body(t, s.Browser().Get(path))
	}
	s.Stop()
	if text := log.String(); strings.Contains(text, "wbi_secret") || strings.Count(text, "path=/join/…") != 5 ||
		strings.Count(text, "path=/inbox/off/…") != 2 {
		t.Errorf("the log is %s", text)
	}
}

// TestInviteCodesAreNotTriedByTheHundred checks that the page, the API, and popcorn-cli share one limit for wrong
// invite codes.
func TestInviteCodesAreNotTriedByTheHundred(t *testing.T) {
	s := webtest.NewClosedScene(t)
	other := s.BrowserFor(s.Users["other"])
	for i := range 20 {
		webtest.WantStatus(t, other.Get(fmt.Sprintf("/join/wbi_guess%d", i)), http.StatusNotFound)
	}
	webtest.WantProblem(t, s.Browser().Send(http.MethodPost, "/api/v1/join", strings.NewReader(`{"code":"wbi_guess"}`),
		"Content-Type", "application/json", "Authorization", "Bearer "+s.Tokens["other"]),
		http.StatusTooManyRequests, "too_many")
	if _, err := s.Popcorn(s.Users["other"]).Join(t.Context(), "wbi_guess"); !strings.HasPrefix(webtest.Refused(err),
		"429 Too many invite codes tried.") {
		t.Error(err)
	}
	webtest.WantStatus(t, other.Get("/tasks"), http.StatusOK)
}

func TestProgramsJoinAMembersBoard(t *testing.T) {
	s := webtest.NewClosedScene(t)
	code, _, err := s.Cfg.Store.Members.CreateInvite(t.Context(), s.Users["owner"], s.Task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if joined, err := s.API(s.Users["other"]).JoinBoard(t.Context(), code); err != nil || joined.Task != "quiet" ||
		joined.Title != webtest.QuietTitle || !slices.Equal(joined.Devices, []string{"CPU"}) {
		t.Errorf("%+v, %v", joined, err)
	}
	late := modelstest.Person(t, s.Cfg.Store, "late", accounts.RoleUser)
	if text, err := s.Popcorn(late).Join(t.Context(), code); err != nil ||
		string(text) != `{"leaderboards":["quiet"]}` {
		t.Errorf("%s, %v", text, err)
	}
	if list, err := s.Popcorn(late).Leaderboards(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("popcorn-cli lists %+v, %v", list, err)
	}
	webtest.WantProblem(t, s.Browser().Send(http.MethodPost, "/api/v1/join", strings.NewReader(`{"code":"`+code+`"}`),
		"Content-Type", "application/json"), http.StatusUnauthorized, "unauthorized")
}

func TestPagesOfMembersBoardsLookRight(t *testing.T) {
	s := webtest.NewScene(t)
	_, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID,
		catalog.TaskSettings{Title: s.Task.Title, Devices: s.Task.Devices, Visibility: catalog.Members})
	if err != nil {
		t.Fatal(err)
	}
	open := ""
	for _, n := range []struct {
		membership.NewInvite
		people []string
	}{
		{membership.NewInvite{Note: "Course on GPU programming, autumn term", MaxPeople: 30, Lifetime: 90 * 24 * time.Hour},
			[]string{"Radia Perlman", "Tony Hoare"}},
		{membership.NewInvite{Note: "guest", MaxPeople: 1}, []string{"Ken Thompson"}},
		{},
	} {
		if open, _, err = s.Cfg.Store.Members.CreateInvite(t.Context(), s.Admin, s.Task.ID, n.NewInvite); err != nil {
			t.Fatal(err)
		}
		for _, name := range n.people {
			if _, err := s.Cfg.Store.Members.Join(t.Context(),
				modelstest.Person(t, s.Cfg.Store, name, accounts.RoleUser).ID, open); err != nil {
				t.Fatal(err)
			}
		}
	}
	task := "/tasks/" + s.Task.Slug
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(task + "/members")
	w.LooksRight("members")
	w.Do(chromedp.SetValue("#invite-note", "reviewers"), chromedp.Click("section form .btn:not(.btn-small)"),
		chromedp.WaitVisible("#new-link"))
	w.LooksRight("members-link")
	w.Visit(task + "/edit")
	w.LooksRight("task-edit")
	w.Visit(task)
	w.LooksRight("task-members")
	w = s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/join/" + open)
	w.LooksRight("join")
	w.Visit("/join/wbi_mistyped")
	w.LooksRight("join-refused")
}
