package webtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// QuietTitle is the title of a hidden task. Tests search pages for it instead of the task's slug, because error pages
// repeat the slug that was requested.
const QuietTitle = "Zanzibar sums"

// QuietWords is the text of the comments on the hidden task with QuietTitle, and on a submission to it.
const QuietWords = "Cloves in shared memory"

// ClosedScene is a site with a closed task and one person in each role. The member has a run on the task's board.
type ClosedScene struct {
	*Site
	Task       catalog.Task
	Run        work.Run // the member's run on the board
	Users      map[string]accounts.User
	Browsers   map[string]*Browser
	Tokens     map[string]string
	Roles      []string
	Visibility catalog.Visibility
}

func NewClosedScene(t *testing.T) *ClosedScene {
	s := &ClosedScene{Site: Start(t, Signs(t)), Users: map[string]accounts.User{}, Browsers: map[string]*Browser{},
		Tokens: map[string]string{},
		Roles:  []string{"visitor", "other", "member", "owner", "admin"}}
	for i, role := range []accounts.Role{accounts.RoleVisitor, accounts.RoleUser, accounts.RoleUser,
		accounts.RoleCreator, accounts.RoleAdmin} {
		name := s.Roles[i]
		if s.Browsers[name] = s.Browser(); role == accounts.RoleVisitor {
			continue
		}
		s.Users[name] = modelstest.Person(t, s.Cfg.Store, name, role)
		s.Browsers[name] = s.BrowserFor(s.Users[name])
		secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), s.Users[name].ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Tokens[name] = secret
	}
	var err error
	past := time.Now().Add(time.Hour)
	s.Task, err = s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Users["owner"], catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Title: QuietTitle, Devices: []string{"CPU"}, Deadline: &past},
		Bundle:       modelstest.Bundle("quiet")})
	if err != nil {
		t.Fatal(err)
	}
	s.Run = modelstest.Submit(t, s.Cfg.Store, s.Users["member"], s.Task)[0]
	modelstest.Finish(t, s.Cfg.Store, s.Run, 5000)
	modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.Users["owner"], s.Task)[0], 9000)
	modelstest.Submit(t, s.Cfg.Store, s.Users["member"], s.Task) // this run stays in the queue
	s.Change(catalog.Members)
	code, _, err := s.Cfg.Store.Members.CreateInvite(t.Context(), s.Users["owner"], s.Task.ID, membership.NewInvite{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.Members.Join(t.Context(), s.Users["member"].ID, code); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(), "update tasks set deadline = $1 where id = $2",
		time.Now().Add(-time.Hour).UTC(), s.Task.ID); err != nil {
		t.Fatal(err)
	}
	s.talk()
	return s
}

// talk adds the member's comments to the task and to the submission of Run.
func (s *ClosedScene) talk() {
	filed, err := s.Cfg.Store.Submissions.Details(s.T.Context(), s.Run.SubmissionID)
	if err != nil {
		s.T.Fatal(err)
	}
	of := filed[s.Run.SubmissionID]
	for _, thread := range []comments.Thread{{Task: of.Task}, {Task: of.Task, Submission: &of.Submission}} {
		member, err := s.Cfg.Store.Accounts.User(s.T.Context(), s.Users["member"].ID)
		if err == nil {
			_, err = s.Cfg.Store.Comments.Add(s.T.Context(), member, thread, QuietWords)
		}
		if err != nil {
			s.T.Fatal(err)
		}
	}
}

// BrowserFor returns a browser that is signed in as a person.
func (s *Site) BrowserFor(user accounts.User) *Browser {
	return (&Scene{Site: s}).BrowserOf(user)
}

// Change changes the task's visibility.
func (s *ClosedScene) Change(who catalog.Visibility) {
	s.T.Helper()
	task, err := s.Cfg.Store.Catalog.Task(s.T.Context(), "quiet")
	if err == nil {
		_, err = s.Cfg.Store.Catalog.UpdateTask(s.T.Context(), s.Users["owner"], task.ID,
			catalog.TaskSettings{Title: QuietTitle, Devices: task.Devices, Deadline: task.Deadline, Visibility: who})
	}
	if err != nil {
		s.T.Fatal(err)
	}
	s.Visibility = who
}

// Documented returns a check that a value matches a schema of the document. It fails at once if the document's schemas
// are invalid.
func (s *Site) Documented(t *testing.T) func(name string, value any) {
	t.Helper()
	text := strings.ReplaceAll(Body(t, s.Browser().Get("/api/v1/openapi.json")), "#/components/schemas/", "#/$defs/")
	var document struct {
		Components struct {
			Schemas map[string]*jsonschema.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	for _, schema := range document.Components.Schemas {
		Closed(schema)
	}
	return func(name string, value any) {
		t.Helper()
		schema, err := (&jsonschema.Schema{Ref: "#/$defs/" + name, Defs: document.Components.Schemas}).Resolve(nil)
		if err != nil {
			t.Fatalf("the schemas are not sound: %v", err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("this is no %s: %v\n%v", name, err, value)
		}
	}
}
