package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// ask requests a path with the browser of a role, and returns the status and the body.
func ask(s *webtest.ClosedScene, role, path string, headers ...string) (int, string) {
	s.T.Helper()
	if token := s.Tokens[role]; token != "" && strings.HasPrefix(path, "/popcorn") {
		headers = append(headers, "X-Popcorn-Cli-Id", token)
	}
	b := s.Browsers[role]
	b.Timeout = 30 * time.Second // ends the reading of streams, which never end
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := b.Get(path, headers...)
	return resp.StatusCode, webtest.Body(s.T, resp)
}

// seen is one row of the table: a path, and for each visibility the roles that see the task there. A role is its first
// letter (see initial).
type seen struct {
	path                              string
	mark                              string // text that shows the task; empty: the task's title
	public, unlisted, members, hidden string
}

// TestTheVisibilityOfATaskOnEveryAddress checks for every path which roles see the task. All other roles must get the
// same answer as for a task that does not exist.
func TestTheVisibilityOfATaskOnEveryAddress(t *testing.T) {
	s := webtest.NewClosedScene(t)
	run, sub, board := fmt.Sprintf("/runs/%d", s.Run.ID), fmt.Sprintf("/submissions/%d", s.Run.SubmissionID), "/tasks/quiet/boards/CPU"
	person := fmt.Sprintf("/users/%d", s.Users["member"].ID)
	const all, in, own = "vomwa", "mwa", "wa" // all roles; members, author, and admins; author and admins
	for _, row := range []seen{
		// paths of the task
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
		{"/tasks/quiet/comments", webtest.QuietWords, all, all, in, own},
		// comments are hidden even from the submission's author
		{sub + "/comments", webtest.QuietWords, all, all, in, own},
		{"/api/v1/tasks/quiet/comments", webtest.QuietWords, all, all, in, own},
		{"/api/v1" + sub + "/comments", webtest.QuietWords, all, all, in, own},
		{"/comments/1", webtest.QuietWords, all, all, in, own},
		{"/comments/2", webtest.QuietWords, all, all, in, own},
		{run + "/moderation", "", all, all, in, own + "m"}, // members keep access to their own runs
		{sub, "", all, all, in, own + "m"},
		{sub + "/source", "int main", all, all, in, own + "m"},
		{"/api/v1" + sub, `"quiet"`, all, all, in, own + "m"},
		{"/api/v1" + sub + "/source", "int main", all, all, in, own + "m"},
		{"/api/v1" + sub + "/events", "data:", all, all, in, own + "m"},
		{"/api/v1" + run + "/statement", "payload", all, all, in, own + "m"},
		{fmt.Sprintf("/compare?a=%d&b=%d", s.Run.ID, s.Run.ID), "", all, all, in, own + "m"},
		{fmt.Sprintf("/compare.json?a=%d&b=%d", s.Run.ID, s.Run.ID), "score_ns", all, all, in, own + "m"},
		// pages for other sites are read without a sign-in, so they show no closed board
		{board + "/badge.svg", "<svg", all, all, "", ""},
		{board + "/embed", "", all, all, "", ""},
		{board + "/entries.csv", "member", all, all, "", ""},
		{board + "/dataset.jsonl", "int main", all, all, "", ""},
		{board + "/kernelbot.parquet", "PAR1", all, all, "", ""},
		{board + "/README.md", "kernelbot", all, all, "", ""},
		{board + "/records.atom", "", all, all, "", ""},
		{"/tasks/quiet/records.atom", "", all, all, "", ""},
		{run + "/badge.svg", "<svg", all, all, "", ""},
		// lists show an unlisted task only to its author, to admins, and to people who took part
		{"/", "", all, "mwa", in, own}, // shows members their last submission
		{"/about", "", all, "", "", ""},
		{"/tasks?q=zanzibar", `data-task="quiet"`, all, own, in, own},
		{"/find?q=zanzibar", "", all, "mwa", in, own},
		{"/search?q=zanzibar", webtest.QuietTitle + "<", all, "mwa", in, own},
		{"/api/v1/tasks", "", all, own, in, own},
		{"/popcorn/leaderboards", "", all, own, in, own},
		{person, "", all, "mwa", in, own},
		{"/me", "", "mw", "mw", "mw", "w"},
		{"/devices", "", all, "mwa", in, own + "m"},
		{"/sitemap.xml", "/tasks/quiet", all, "", "", ""},
		{"/records.atom", "", all, "", "", ""},
		{person + "/records.atom", "", all, "", "", ""},
		{"/leaderboards", ">member</a>", all, "", "", ""}, // only public tasks give points
		{"/api/v1/leaderboards", `"member"`, all, "", "", ""},
		{"/audit", "/tasks/quiet", "a", "a", "a", "a"},
	} {
		for who, roles := range map[catalog.Visibility]string{catalog.Public: row.public, catalog.Unlisted: row.unlisted, catalog.Members: row.members, catalog.Hidden: row.hidden} {
			s.Change(who)
			sees(s, row, roles)
		}
	}
}

// initial returns the letter of a role in the table: the first letter, but "w" (who wrote the task) for the owner.
func initial(role string) string {
	if role == "owner" {
		return "w"
	}
	return role[:1]
}

// sees checks one row of the table at the scene's current visibility.
func sees(s *webtest.ClosedScene, row seen, roles string) {
	s.T.Helper()
	mark := row.mark
	if mark == "" {
		mark = webtest.QuietTitle
	}
	absent := strings.NewReplacer("quiet", "absent", fmt.Sprintf("/runs/%d", s.Run.ID), "/runs/99", fmt.Sprintf("/submissions/%d", s.Run.SubmissionID), "/submissions/99",
		fmt.Sprintf("a=%d&b=%d", s.Run.ID, s.Run.ID), "a=99&b=99", "/comments/1", "/comments/99", "/comments/2", "/comments/99").Replace(row.path)
	for _, role := range s.Roles {
		status, text := ask(s, role, row.path)
		want := strings.Contains(roles, initial(role))
		if shown := status == http.StatusOK && strings.Contains(text, mark); shown != want {
			s.T.Errorf("%s task, %s, %s: %d, shown: %v, want %v", s.Visibility, row.path, role, status, shown, want)
		}
		if strings.Contains("vo", initial(role)) && (s.Visibility == catalog.Members || s.Visibility == catalog.Hidden) {
			if none, _ := ask(s, role, absent); status != none || strings.Contains(text, webtest.QuietTitle) {
				s.T.Errorf("%s task, %s, %s: %d, where a task that does not exist is %d", s.Visibility, row.path, role, status, none)
			}
		}
	}
}

// TestNothingAboutAMembersBoardReachesOthers requests every path as a visitor and as a person who is not a member.
func TestNothingAboutAMembersBoardReachesOthers(t *testing.T) {
	s := webtest.NewClosedScene(t)
	asked := 0
	for _, r := range s.App().GetRoutes(true) {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Path, "/static/") || strings.HasSuffix(r.Path, "/boards/events") || strings.HasSuffix(r.Path, "/devices/events") {
			continue
		}
		path := strings.NewReplacer("/submissions/:id/runs/:run", fmt.Sprintf("/submissions/%d/runs/%d", s.Run.SubmissionID, s.Run.ID),
			"/submissions/:id", fmt.Sprintf("/submissions/%d", s.Run.SubmissionID), "/runs/:id", fmt.Sprintf("/runs/%d", s.Run.ID),
			"/comments/:id", "/comments/1", ":slug", "quiet", ":leaderboard", "quiet", ":version", fmt.Sprint(s.Task.VersionID), ":device", "CPU", ":gpu", "CPU", "/users/:id", fmt.Sprintf("/users/%d", s.Users["member"].ID)).Replace(r.Path)
		for _, role := range []string{"visitor", "other"} {
			if status, text := ask(s, role, path); strings.Contains(text, webtest.QuietTitle) || strings.Contains(text, webtest.QuietWords) || status == http.StatusOK && strings.Contains(text, "int main") {
				t.Errorf("%s at %s: %d shows it", role, path, status)
			}
			asked++
		}
	}
	if asked < 200 {
		t.Errorf("only %d answers were looked at", asked)
	}
	other := modelstest.Task(t, s.Cfg.Store, s.Users["owner"], "open", "CPU")
	mine := modelstest.Submit(t, s.Cfg.Store, s.Users["other"], other)[0]
	modelstest.Finish(t, s.Cfg.Store, mine, 6000)
	for _, path := range []string{"/tasks/open/solve?from=%d", "/tasks/open?from=%d", fmt.Sprintf("/compare?a=%d&b=%%[2]d", mine.ID), fmt.Sprintf("/compare.csv?b=%d&a=%%[2]d", mine.ID),
		fmt.Sprintf("/submissions/%d/runs/%d/profile?pin=%%[2]d", mine.SubmissionID, mine.ID), "/api/v1/submissions/%d?wait=1", "/users/%[3]d?before=1000", "/devices/CPU/drift"} {
		if status, text := ask(s, "other", fmt.Sprintf(path+"%.0[1]d%.0[2]d%.0[3]d", s.Run.SubmissionID, s.Run.ID, s.Users["member"].ID)); strings.Contains(text, webtest.QuietTitle) || strings.Contains(text, "int main") && !strings.Contains(path, "open") {
			t.Errorf("%s: %d shows it", path, status)
		}
	}
	for _, path := range []string{"/tasks/quiet/boards/CPU", "/api/v1/boards/quiet/CPU"} {
		resp := s.Browsers["member"].Get(path)
		if control := resp.Header.Get("Cache-Control"); !strings.Contains(control, "private") && !strings.Contains(control, "no-store") {
			t.Errorf("%s may be kept by others: %q", path, control)
		}
		etag := resp.Header.Get("ETag")
		if etag == "" {
			t.Errorf("%s has no tag", path)
		}
		if status, _ := ask(s, "other", path, "If-None-Match", etag); status != http.StatusNotFound {
			t.Errorf("another person with the tag of %s gets %d", path, status)
		}
	}
	for role, want := range map[string]bool{"other": false, "member": true} {
		a := webtest.Connect(t, &sdk.StreamableClientTransport{
			Endpoint:             s.URL + "/mcp",
			HTTPClient:           &http.Client{Transport: webtest.Bearer(s.Tokens[role])},
			DisableStandaloneSSE: true,
		})
		for tool, in := range map[string]webtest.Object{"list_tasks": {}, "get_task": {"task": "quiet"}, "get_board": {"task": "quiet", "device": "CPU"}, "get_submission": {"id": s.Run.SubmissionID}} {
			result, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
			if err != nil {
				t.Fatal(err)
			}
			if shown := !result.IsError && strings.Contains(webtest.JSONText(result), "quiet"); shown != want {
				t.Errorf("%s shows the board to %s: %v", tool, role, shown)
			}
		}
		for _, uri := range []string{"warpboard://comments/tasks/quiet", fmt.Sprintf("warpboard://comments/submissions/%d", s.Run.SubmissionID)} {
			result, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if shown := err == nil && strings.Contains(webtest.JSONText(result), webtest.QuietWords); shown != want {
				t.Errorf("%s shows the comments to %s: %v, %v", uri, role, shown, err)
			}
		}
	}
}

// TestOwnRunsOfAClosedBoardShowNoRivals requests the pages of a run as its author, who may no longer see the task. No
// page may show other people's runs.
func TestOwnRunsOfAClosedBoardShowNoRivals(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	own := s.Second
	s.SQL("insert into orders (purpose, version_id, device, challenger_id, holder_id, created_at) values ('confirm', $1, 'H200', $2, $3, $4)",
		own.VersionID, own.ID, s.First.ID, time.Now().UTC())
	user, err := s.Cfg.Store.Accounts.User(t.Context(), own.UserID)
	if err != nil {
		t.Fatal(err)
	}
	b := s.BrowserOf(user)
	b.Timeout = 30 * time.Second // ends the reading of streams, which never end
	rivals := []string{"Linus Ncu", "Rosa Refused", fmt.Sprintf("/submissions/%d/", s.First.SubmissionID), fmt.Sprintf("/submissions/%d\"", s.First.SubmissionID),
		fmt.Sprintf("a=%d", s.First.ID), fmt.Sprintf(`"first_run":%d`, s.First.ID), fmt.Sprintf("#%d", s.First.SubmissionID)}
	paths := []string{fmt.Sprintf("/compare?a=%d&b=%d", own.ID, own.ID), fmt.Sprintf("/compare?as=%d", own.SubmissionID), webtest.ProfilePath(own) + "?case=1"}
	for _, r := range s.App().GetRoutes(true) {
		if strings.Contains(r.Path, ":id") && r.Method == http.MethodGet && !strings.HasPrefix(r.Path, "/users/") {
			paths = append(paths, strings.NewReplacer("/submissions/:id", fmt.Sprintf("/submissions/%d", own.SubmissionID), ":run", fmt.Sprint(own.ID), ":id", fmt.Sprint(own.ID)).Replace(r.Path))
		}
	}
	shows := func(path string) (found string) {
		resp := b.Get(path, "HX-Request", "true")
		for text, i := webtest.Body(t, resp), 0; i < len(rivals); i++ {
			if resp.StatusCode == http.StatusOK && strings.Contains(text, rivals[i]) {
				return rivals[i]
			}
		}
		return ""
	}
	for _, path := range []string{paths[0], webtest.ProfilePath(own), fmt.Sprintf("/submissions/%d/runs/%d", own.SubmissionID, own.ID)} {
		if shows(path) == "" {
			t.Errorf("%s of an open task shows no rival", path)
		}
	}
	for _, who := range []catalog.Visibility{catalog.Hidden, catalog.Members} {
		s.SQL("update tasks set visibility = $1 where id = $2", who, s.Task.ID)
		for _, path := range paths {
			if found := shows(path); found != "" {
				t.Errorf("%s task, %s shows %q", who, path, found)
			}
		}
	}
}
