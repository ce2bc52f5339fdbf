package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// quietTitle is what stands wherever the task is shown. Its slug does not: errors repeat what was asked for.
const quietTitle = "Zanzibar sums"

// quietWords are a comment on it, and on a submission to it.
const quietWords = "Cloves in shared memory"

// closedScene is a task with a board, on which a member is, and one person in every role.
type closedScene struct {
	*testSite
	task       catalog.Task
	run        work.Run // on the board
	users      map[string]accounts.User
	browsers   map[string]*browser
	tokens     map[string]string
	roles      []string
	visibility catalog.Visibility
}

func newClosedScene(t *testing.T) *closedScene {
	s := &closedScene{testSite: startSite(t, signs(t)), users: map[string]accounts.User{}, browsers: map[string]*browser{}, tokens: map[string]string{},
		roles: []string{"visitor", "other", "member", "owner", "admin"}}
	for i, role := range []accounts.Role{accounts.RoleVisitor, accounts.RoleUser, accounts.RoleUser, accounts.RoleCreator, accounts.RoleAdmin} {
		name := s.roles[i]
		if s.browsers[name] = s.browser(); role == accounts.RoleVisitor {
			continue
		}
		s.users[name] = modelstest.Person(t, s.site.Store, name, role)
		s.browsers[name] = s.browserFor(s.users[name])
		secret, _, err := s.site.Store.Accounts.CreateToken(t.Context(), s.users[name].ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = secret
	}
	var err error
	past := time.Now().Add(time.Hour)
	s.task, err = s.site.Store.Catalog.CreateTask(t.Context(), s.users["owner"], catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Title: quietTitle, Devices: []string{"CPU"}, Deadline: &past}, Bundle: modelstest.Bundle("quiet")})
	if err != nil {
		t.Fatal(err)
	}
	s.run = modelstest.Submit(t, s.site.Store, s.users["member"], s.task)[0]
	modelstest.Finish(t, s.site.Store, s.run, 5000)
	modelstest.Finish(t, s.site.Store, modelstest.Submit(t, s.site.Store, s.users["owner"], s.task)[0], 9000)
	modelstest.Submit(t, s.site.Store, s.users["member"], s.task) // it waits
	s.change(catalog.Members)
	code, _, err := s.site.Store.Members.CreateInvite(t.Context(), s.users["owner"], s.task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.Members.Join(t.Context(), s.users["member"].ID, code); err != nil {
		t.Fatal(err)
	}
	if _, err := s.site.Store.SQL().ExecContext(t.Context(), "update tasks set deadline = $1 where id = $2", time.Now().Add(-time.Hour).UTC(), s.task.ID); err != nil {
		t.Fatal(err)
	}
	s.talk()
	return s
}

// talk writes comments on the task and on the run's submission, which is public.
func (s *closedScene) talk() {
	filed, err := s.site.Store.Submissions.Filed(s.t.Context(), s.run.SubmissionID)
	if err != nil {
		s.t.Fatal(err)
	}
	of := filed[s.run.SubmissionID]
	for _, thread := range []comments.Thread{{Task: of.Task}, {Task: of.Task, Submission: &of.Submission}} {
		member, err := s.site.Store.Accounts.User(s.t.Context(), s.users["member"].ID)
		if err == nil {
			_, err = s.site.Store.Comments.Add(s.t.Context(), member, thread, quietWords)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// browserFor is a browser with a session of a person.
func (s *testSite) browserFor(user accounts.User) *browser {
	return (&scene{testSite: s}).browserOf(user)
}

// change has other people see the task.
func (s *closedScene) change(who catalog.Visibility) {
	s.t.Helper()
	task, err := s.site.Store.Catalog.Task(s.t.Context(), "quiet")
	if err == nil {
		_, err = s.site.Store.Catalog.UpdateTask(s.t.Context(), s.users["owner"], task.ID,
			catalog.TaskSettings{Title: quietTitle, Devices: task.Devices, Deadline: task.Deadline, Visibility: who})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.visibility = who
}

// ask returns the answer that someone in a role gets.
func (s *closedScene) ask(role, path string, headers ...string) (int, string) {
	s.t.Helper()
	if token := s.tokens[role]; token != "" && strings.HasPrefix(path, "/popcorn") {
		headers = append(headers, "X-Popcorn-Cli-Id", token)
	}
	b := s.browsers[role]
	b.Timeout = 30 * time.Second // a stream that does not end
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := b.get(path, headers...)
	return resp.StatusCode, body(s.t, resp)
}

// seen is one line of the table: who sees the task at a surface, by the first letters of visitor, other, member, owner and admin.
type seen struct {
	path                              string
	mark                              string // that shows the task; empty: its title
	public, unlisted, members, hidden string
}

// TestWhoSeesATaskWhere is the table of surfaces and roles. Everyone else is answered as for a task that does not exist.
func TestWhoSeesATaskWhere(t *testing.T) {
	s := newClosedScene(t)
	run, sub, board := fmt.Sprintf("/runs/%d", s.run.ID), fmt.Sprintf("/submissions/%d", s.run.SubmissionID), "/tasks/quiet/boards/CPU"
	person := fmt.Sprintf("/users/%d", s.users["member"].ID)
	const all, in, own = "vomwa", "mwa", "wa" // everyone, who is in, the author and admins
	for _, row := range []seen{
		// the task's own addresses
		{"/tasks/quiet", "", all, all, in, "wa"},
		{"/tasks/quiet/solve", "", all, all, in, own},
		{"/tasks/quiet/edit", "", own, own, own, own},
		{"/tasks/quiet/members", "", own, own, own, own},
		{board, "", all, all, in, own},
		{board + "?find=someone-else", "", all, all, in, own},
		{"/api/v1/tasks/quiet", "", all, all, in, own},
		{"/api/v1/boards/quiet/CPU", `"member"`, all, all, in, own},
		{"/api/v1/tasks/quiet/bundle", "PK", all, all, in, own},
		{"/popcorn/gpus/quiet", "CPU", all, all, in, own},
		{"/popcorn/submissions/quiet/CPU", "member", all, all, in, own},
		{"/tasks/quiet/comments", quietWords, all, all, in, own},
		{sub + "/comments", quietWords, all, all, in, own}, // nor of one's own submission
		{"/api/v1/tasks/quiet/comments", quietWords, all, all, in, own},
		{"/api/v1" + sub + "/comments", quietWords, all, all, in, own},
		{"/comments/1", quietWords, all, all, in, own},
		{"/comments/2", quietWords, all, all, in, own},
		{run + "/moderation", "", all, all, in, own + "m"}, // one's own runs stay one's own
		{sub, "", all, all, in, own + "m"},
		{sub + "/source", "int main", all, all, in, own + "m"},
		{"/api/v1" + sub, `"quiet"`, all, all, in, own + "m"},
		{"/api/v1" + sub + "/source", "int main", all, all, in, own + "m"},
		{"/api/v1" + sub + "/events", "data:", all, all, in, own + "m"},
		{"/api/v1" + run + "/statement", "payload", all, all, in, own + "m"},
		{fmt.Sprintf("/compare?a=%d&b=%d", s.run.ID, s.run.ID), "", all, all, in, own + "m"},
		{fmt.Sprintf("/compare.json?a=%d&b=%d", s.run.ID, s.run.ID), "score_ns", all, all, in, own + "m"},
		// what other sites show: without a sign-in, so it shows no closed board to anyone
		{board + "/badge.svg", "<svg", all, all, "", ""},
		{board + "/card.png", "PNG", all, all, "", ""},
		{board + "/embed", "", all, all, "", ""},
		{board + "/entries.csv", "member", all, all, "", ""},
		{board + "/dataset.jsonl", "int main", all, all, "", ""},
		{board + "/kernelbot.parquet", "PAR1", all, all, "", ""},
		{board + "/README.md", "kernelbot", all, all, "", ""},
		{board + "/records.atom", "", all, all, "", ""},
		{"/tasks/quiet/records.atom", "", all, all, "", ""},
		{run + "/badge.svg", "<svg", all, all, "", ""},
		{run + "/card.png", "PNG", all, all, "", ""},
		// lists; an unlisted task is in the lists of its author, of admins, and of who did something there
		{"/", "", all, "mwa", in, own}, // the member goes on there with their last submission
		{"/about", "", all, "", "", ""},
		{"/tasks?q=zanzibar", `data-task="quiet"`, all, own, in, own},
		{"/find?q=zanzibar", "", all, "mwa", in, own},
		{"/api/v1/tasks", "", all, own, in, own},
		{"/popcorn/leaderboards", "", all, own, in, own},
		{person, "", all, "mwa", in, own},
		{"/me", "", "mw", "mw", "mw", "w"},
		{"/devices", "", all, "mwa", in, own + "m"},
		{"/sitemap.xml", "/tasks/quiet", all, "", "", ""},
		{"/records.atom", "", all, "", "", ""},
		{person + "/records.atom", "", all, "", "", ""},
		{"/leaderboards", ">member</a>", all, "", "", ""}, // points come from public tasks alone
		{"/api/v1/leaderboards", `"member"`, all, "", "", ""},
		{"/audit", "/tasks/quiet", "a", "a", "a", "a"},
	} {
		for who, roles := range map[catalog.Visibility]string{catalog.Public: row.public, catalog.Unlisted: row.unlisted, catalog.Members: row.members, catalog.Hidden: row.hidden} {
			s.change(who)
			s.sees(row, roles)
		}
	}
}

// initials of roles in the table; the owner's is w, for who wrote the task.
func initial(role string) string {
	if role == "owner" {
		return "w"
	}
	return role[:1]
}

// sees holds a surface to one cell of the table.
func (s *closedScene) sees(row seen, roles string) {
	s.t.Helper()
	mark := row.mark
	if mark == "" {
		mark = quietTitle
	}
	absent := strings.NewReplacer("quiet", "absent", fmt.Sprintf("/runs/%d", s.run.ID), "/runs/99", fmt.Sprintf("/submissions/%d", s.run.SubmissionID), "/submissions/99",
		fmt.Sprintf("a=%d&b=%d", s.run.ID, s.run.ID), "a=99&b=99", "/comments/1", "/comments/99", "/comments/2", "/comments/99").Replace(row.path)
	for _, role := range s.roles {
		status, text := s.ask(role, row.path)
		want := strings.Contains(roles, initial(role))
		if shown := status == http.StatusOK && strings.Contains(text, mark); shown != want {
			s.t.Errorf("%s task, %s, %s: %d, shown: %v, want %v", s.visibility, row.path, role, status, shown, want)
		}
		if strings.Contains("vo", initial(role)) && (s.visibility == catalog.Members || s.visibility == catalog.Hidden) {
			if none, _ := s.ask(role, absent); status != none || strings.Contains(text, quietTitle) {
				s.t.Errorf("%s task, %s, %s: %d, where a task that does not exist is %d", s.visibility, row.path, role, status, none)
			}
		}
	}
}

// TestNothingAboutAMembersBoardReachesOthers asks every address of the site.
func TestNothingAboutAMembersBoardReachesOthers(t *testing.T) {
	s := newClosedScene(t)
	asked := 0
	for _, r := range s.app.GetRoutes(true) {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Path, "/static/") || strings.HasSuffix(r.Path, "/boards/events") || strings.HasSuffix(r.Path, "/devices/events") {
			continue
		}
		path := strings.NewReplacer("/submissions/:id/runs/:run", fmt.Sprintf("/submissions/%d/runs/%d", s.run.SubmissionID, s.run.ID),
			"/submissions/:id", fmt.Sprintf("/submissions/%d", s.run.SubmissionID), "/runs/:id", fmt.Sprintf("/runs/%d", s.run.ID),
			"/comments/:id", "/comments/1", ":slug", "quiet", ":leaderboard", "quiet", ":version", fmt.Sprint(s.task.VersionID), ":device", "CPU", ":gpu", "CPU", "/users/:id", fmt.Sprintf("/users/%d", s.users["member"].ID)).Replace(r.Path)
		for _, role := range []string{"visitor", "other"} {
			if status, text := s.ask(role, path); strings.Contains(text, quietTitle) || strings.Contains(text, quietWords) || status == http.StatusOK && strings.Contains(text, "int main") {
				t.Errorf("%s at %s: %d shows it", role, path, status)
			}
			asked++
		}
	}
	if asked < 200 {
		t.Errorf("only %d answers were looked at", asked)
	}
	other := modelstest.Task(t, s.site.Store, s.users["owner"], "open", "CPU")
	mine := modelstest.Submit(t, s.site.Store, s.users["other"], other)[0]
	modelstest.Finish(t, s.site.Store, mine, 6000)
	for _, path := range []string{"/tasks/open/solve?from=%d", "/tasks/open?from=%d", fmt.Sprintf("/compare?a=%d&b=%%[2]d", mine.ID), fmt.Sprintf("/compare.csv?b=%d&a=%%[2]d", mine.ID),
		fmt.Sprintf("/submissions/%d/runs/%d/profile?pin=%%[2]d", mine.SubmissionID, mine.ID), "/api/v1/submissions/%d?wait=1", "/users/%[3]d?before=1000", "/devices/CPU/drift"} {
		if status, text := s.ask("other", fmt.Sprintf(path+"%.0[1]d%.0[2]d%.0[3]d", s.run.SubmissionID, s.run.ID, s.users["member"].ID)); strings.Contains(text, quietTitle) || strings.Contains(text, "int main") && !strings.Contains(path, "open") {
			t.Errorf("%s: %d shows it", path, status)
		}
	}
	for _, path := range []string{"/tasks/quiet/boards/CPU", "/api/v1/boards/quiet/CPU"} {
		resp := s.browsers["member"].get(path)
		if control := resp.Header.Get("Cache-Control"); !strings.Contains(control, "private") && !strings.Contains(control, "no-store") {
			t.Errorf("%s may be kept by others: %q", path, control)
		}
		etag := resp.Header.Get("ETag")
		if etag == "" {
			t.Errorf("%s has no tag", path)
		}
		if status, _ := s.ask("other", path, "If-None-Match", etag); status != http.StatusNotFound {
			t.Errorf("another person with the tag of %s gets %d", path, status)
		}
	}
	for role, want := range map[string]bool{"other": false, "member": true} {
		a := connect(t, &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(s.tokens[role])}, DisableStandaloneSSE: true})
		for tool, in := range map[string]object{"list_tasks": {}, "get_task": {"task": "quiet"}, "get_board": {"task": "quiet", "device": "CPU"}, "get_submission": {"id": s.run.SubmissionID}} {
			result, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
			if err != nil {
				t.Fatal(err)
			}
			if shown := !result.IsError && strings.Contains(jsonText(result), "quiet"); shown != want {
				t.Errorf("%s shows the board to %s: %v", tool, role, shown)
			}
		}
		for _, uri := range []string{"warpboard://comments/tasks/quiet", fmt.Sprintf("warpboard://comments/submissions/%d", s.run.SubmissionID)} {
			result, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if shown := err == nil && strings.Contains(jsonText(result), quietWords); shown != want {
				t.Errorf("%s shows the comments to %s: %v, %v", uri, role, shown, err)
			}
		}
	}
}
