package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/tasks"
	"warpboard/web/webtest"
)

func TestPeopleListTheirSubmissionsPageByPage(t *testing.T) {
	s := webtest.NewStage(t)
	api, other := s.API(s.User), s.API(modelstest.Person(t, s.Cfg.Store, "eve", accounts.RoleUser))
	var ids []int64
	for range 3 {
		sub, err := api.Submit(t.Context(), kernel())
		if err != nil {
			t.Fatal(err)
		}
		ids = append([]int64{sub.ID}, ids...)
	}
	var seen []int64
	for before, pages := int64(0), 0; ; pages++ {
		list, err := api.OwnSubmissions(t.Context(), "vectoradd", before, 2)
		if err != nil || pages > 2 {
			t.Fatal(err, pages)
		}
		for _, sub := range list.Submissions {
			if seen = append(seen, sub.ID); sub.Task != "vectoradd" || sub.Version != 1 || len(sub.Runs) != 1 ||
				sub.Ended {
				t.Errorf("%+v", sub)
			}
		}
		if before = list.NextBefore; before == 0 {
			break
		}
	}
	if diff := cmp.Diff(ids, seen); diff != "" {
		t.Errorf("(-submitted +listed):\n%s", diff)
	}
	if list, err := other.OwnSubmissions(t.Context(), "", 0, 0); err != nil || len(list.Submissions) != 0 {
		t.Errorf("another's list: %+v, %v", list, err)
	}
	if file, err := api.SubmissionSource(t.Context(), ids[0]); err != nil || file.Text != kernel().Source ||
		file.Name != "kernel.cpp" {
		t.Errorf("%+v, %v", file, err)
	}
	for who, want := range map[*client.Client]string{other: "source", s.API(accounts.User{}): "source"} {
		if _, err := who.SubmissionSource(t.Context(), ids[0]); webtest.Code(err) != want {
			t.Errorf("another's source: %v", err)
		}
	}
	if _, err := s.API(accounts.User{}).OwnSubmissions(t.Context(), "", 0, 0); webtest.Code(err) != "unauthorized" {
		t.Errorf("a visitor's list: %v", err)
	}
}

func TestASubmissionThatIsSentAgainWithItsKeyIsTheSame(t *testing.T) {
	s := webtest.NewStage(t)
	send := func(user accounts.User, source string) (id int64, code string) {
		secret, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), user.ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		resp := s.Ask("POST", "/api/v1/submissions", secret,
			webtest.JSONText(webtest.Object{"task": "vectoradd", "file_name": "a.cpp", "source": source}),
			client.IdempotencyHeader, "once")
		defer resp.Body.Close()
		var answer struct {
			ID   int64
			Code string
		}
		webtest.DecodeBody(t, resp, &answer)
		return answer.ID, answer.Code
	}
	first, _ := send(s.User, "int x;")
	if again, _ := send(s.User, "int x;"); again != first || first == 0 {
		t.Errorf("sent again, submission %d is %d", first, again)
	}
	if _, refused := send(s.User, "int y;"); refused != "conflict" {
		t.Errorf("another source with the same key: %q", refused)
	}
	if others, _ := send(modelstest.Person(t, s.Cfg.Store, "eve", accounts.RoleUser), "int x;"); others == first ||
		others == 0 {
		t.Errorf("another person's submission with the same key is %d", others)
	}
}

func TestWaitingForASubmissionAnswersAtItsEnd(t *testing.T) {
	s := webtest.NewStage(t)
	api := s.API(s.User)
	sub, err := api.Submit(t.Context(), kernel())
	if err != nil {
		t.Fatal(err)
	}
	if still, err := api.Wait(t.Context(), sub.ID, time.Second); err != nil || still.Ended {
		t.Fatalf("%+v, %v", still, err)
	}
	ended := make(chan error, 1)
	go func() {
		last, err := api.Wait(t.Context(), sub.ID, time.Hour)
		if err == nil && !last.Ended {
			err = errors.New("it has not ended")
		}
		ended <- err
	}()
	if _, err := api.Cancel(t.Context(), sub.ID); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTasksArePublishedOverTheAPI(t *testing.T) {
	s := webtest.Start(t)
	creator := s.API(modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator))
	bundle := modelstest.Bundle("sum")
	publish := func(who *client.Client, change func(*client.Publication)) (*client.Published, string) {
		var data bytes.Buffer
		if err := tasks.WriteZip(&data, bundle); err != nil {
			t.Fatal(err)
		}
		p := client.Publication{Task: "sum", File: "sum.zip", Data: data.Bytes(), Devices: []string{"CPU"}}
		if change != nil {
			change(&p)
		}
		answer, err := who.PublishTask(t.Context(), p)
		return answer, webtest.Code(err)
	}
	steps := func(want string, version int, dry bool) {
		t.Helper()
		got, refused := publish(creator, func(p *client.Publication) { p.DryRun = dry })
		if refused != "" || got.Change != want || got.Version != version || got.DryRun != dry {
			t.Errorf("published %+v (%s), want %s %d", got, refused, want, version)
		}
	}
	steps(client.ChangeCreated, 1, true)
	if _, err := creator.Task(t.Context(), "sum"); webtest.Code(err) != "not_found" {
		t.Errorf("a dry run made the task: %v", err)
	}
	steps(client.ChangeCreated, 1, false)
	steps("none", 1, false)
	bundle.Definition.Description = "Another text."
	steps("texts", 1, true)
	steps("texts", 1, false)
	bundle.Definition.Benchmarks = bundle.Definition.Benchmarks[:0:0]
	bundle.Definition.Benchmarks = append(bundle.Definition.Benchmarks, tasks.Case{{Name: "n", Value: "77"}})
	steps("version", 1, true)
	steps("version", 2, false)
	for who, want := range map[*client.Client]string{
		s.API(accounts.User{}): "unauthorized",
		s.API(modelstest.Person(t, s.Cfg.Store, "ada", accounts.RoleUser)):      "creator",
		s.API(modelstest.Person(t, s.Cfg.Store, "other", accounts.RoleCreator)): "task",
	} {
		if _, refused := publish(who, nil); refused != want {
			t.Errorf("refused as %q, want %q", refused, want)
		}
	}
	if _, refused := publish(creator, func(p *client.Publication) { p.Data = []byte("no zip") }); refused != "invalid" {
		t.Errorf("no zip: %q", refused)
	}
}

// TestPublishingReportsTheChanges checks the reported changes of title and deadline, and the warning that publishing
// does not change the task's devices.
func TestPublishingReportsTheChanges(t *testing.T) {
	s := webtest.Start(t)
	creator := s.API(modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator))
	bundle := modelstest.Bundle("sum")
	publish := func(deadline string, dry bool) *client.Published {
		t.Helper()
		var data bytes.Buffer
		if err := tasks.WriteZip(&data, bundle); err != nil {
			t.Fatal(err)
		}
		answer, err := creator.PublishTask(t.Context(),
			client.Publication{Task: "sum", File: "sum.zip", Data: data.Bytes(), Devices: []string{"CPU"},
				Deadline: deadline, DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	until := func() string {
		t.Helper()
		task, err := creator.Task(t.Context(), "sum")
		if err != nil {
			t.Fatal(err)
		}
		if task.Deadline == nil {
			return task.Title
		}
		return task.Title + " until " + task.Deadline.Format(time.RFC3339)
	}
	wants := func(want string) {
		t.Helper()
		if got := until(); got != want {
			t.Errorf("the task is %q, want %q", got, want)
		}
	}
	publish("2030-06-01T12:00:00+02:00", false)
	wants("Sum until 2030-06-01T10:00:00Z")
	bundle.Definition.Title, bundle.Definition.GPUs = "Sum of all", []string{"H200"}
	answer := publish("2031-01-01", true)
	wants("Sum until 2030-06-01T10:00:00Z")
	keys := map[string]string{}
	for _, d := range answer.Differences {
		keys[d.Key] = d.Old + " " + d.New
	}
	if diff := cmp.Diff(map[string]string{"title": "Sum Sum of all", "gpus": " H200",
		"deadline": "2030-06-01T10:00:00Z 2031-01-01T00:00:00Z"}, keys); diff != "" {
		t.Errorf("what would change (-want +reported):\n%s", diff)
	}
	if !strings.Contains(strings.Join(answer.Warnings, " "), "the task keeps its devices, CPU") {
		t.Errorf("devices that do not change are reported without a word: %q", answer.Warnings)
	}
	publish("2031-01-01", false)
	wants("Sum of all until 2031-01-01T00:00:00Z")
	publish("", false)
	wants("Sum of all until 2031-01-01T00:00:00Z")
	if answer := publish("none", false); answer.Change != client.ChangeSettings {
		t.Errorf("another deadline alone is the change %q", answer.Change)
	}
	wants("Sum of all")
	if _, err := creator.PublishTask(t.Context(),
		client.Publication{Task: "sum", File: "sum.zip", Deadline: "soon"}); webtest.Code(err) == "" {
		t.Error("soon is a deadline")
	}
}

// TestTheAPIRefusesWhatItDoesNotKnow checks that the API refuses unknown methods and mistyped parameters, which would
// otherwise be ignored. It also checks that scripts of other sites can read public answers and errors, and nothing
// else.
func TestTheAPIRefusesWhatItDoesNotKnow(t *testing.T) {
	s := webtest.Start(t)
	for request, want := range map[string]string{
		"PUT /api/v1/tasks/x": "GET, HEAD, POST", "DELETE /api/v1/submissions/1": "GET, HEAD",
		"POST /api/v1/nothing": "",
	} {
		method, path, _ := strings.Cut(request, " ")
		resp := s.Ask(method, path, "", "{}")
		status := http.StatusMethodNotAllowed
		if want == "" {
			status = http.StatusNotFound
		}
		if resp.StatusCode != status || resp.Header.Get("Allow") != want {
			t.Errorf("%s: %s, Allow %q, want %q", request, resp.Status, resp.Header.Get("Allow"), want)
		}
		resp.Body.Close()
	}
	for path, want := range map[string]string{
		"/api/v1/boards/x/CPU?pgae=2":            `did you mean \"page\"?"`,
		"/api/v1/boards/x/CPU?page=2&colour=red": "known are page, version",
		"/api/v1/tasks?page=2":                   "this address takes none", "/api/v1/tasks/x?%3Cb%3E": `\"<b>\"`,
		"/api/v1/submissions/1?wait=1&wiat=2": `did you mean \"wait\"?`,
		"/api/v1/me?token=1":                  "takes none", "/api/v1/openapi.json?x=1": "takes none",
		"/api/v1/submissions/1/events?since=4": "known are after",
	} {
		resp := s.Browser().Get(path)
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(text), want) ||
			!strings.Contains(text, "unknown_parameter") {
			t.Errorf("%s: %s %s, want %q", path, resp.Status, text, want)
		}
	}
	for path, want := range map[string]string{
		"/api/v1/tasks": "*", "/api/v1/tasks/none": "*", "/api/v1/boards/none/CPU": "*", "/api/v1/capacity": "*",
		"/api/v1/events": "*", "/api/v1/devices?x=1": "*", "/api/v1/runs/1/statement": "*",
		"/api/v1/submissions/1": "*", "/api/v1/submissions/1/source": "*", "/api/v1/submissions/1/events": "*",
		"/api/v1/openapi.json": "*", "/.well-known/warpboard-key.json": "*",
		"/api/v1/submissions": "", "/api/v1/me": "", "/api/v1/evaluations": "", "/api/v1/evaluations/stats": "",
		"/stats": "", "/metrics": "", "/": "", "/me": "",
	} {
		resp := s.Browser().Get(path, "Origin", "https://elsewhere.example")
		resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want ||
			resp.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: other sites %q may read it, want %q", path, got, want)
		}
	}
}
