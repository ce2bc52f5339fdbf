package web

import (
	"context"
	"errors"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// stage is a site with a creator's task and someone who submits to it.
type stage struct {
	*testSite
	creator, user accounts.User
	task          catalog.Task
}

func newStage(t testing.TB, devices ...string) *stage {
	t.Helper()
	st := &stage{testSite: startSite(t)}
	st.people(t, devices...)
	return st
}

// people makes who is on the stage, and the task.
func (s *stage) people(t testing.TB, devices ...string) {
	t.Helper()
	if len(devices) == 0 {
		devices = []string{"CPU"}
	}
	s.creator = modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator)
	s.user = modelstest.Person(t, s.site.Store, "ada", accounts.RoleUser)
	s.task = modelstest.Task(t, s.site.Store, s.creator, "vectoradd", devices...)
}

// change gives a task other settings; its devices stay.
func (s *stage) change(task catalog.Task, to catalog.TaskSettings) {
	s.t.Helper()
	to.Devices = task.Devices
	if _, err := s.site.Store.Catalog.UpdateTask(context.Background(), s.creator, task.ID, to); err != nil {
		s.t.Fatal(err)
	}
}

// close puts a task's deadline into the past.
func (s *stage) close(task catalog.Task) {
	s.t.Helper()
	past := time.Now().Add(-time.Second)
	s.change(task, catalog.TaskSettings{Deadline: &past})
}

// hide makes a task visible to its creator only.
func (s *stage) hide(task catalog.Task) {
	s.t.Helper()
	s.change(task, catalog.TaskSettings{Visibility: catalog.Hidden})
}

func kernel(change ...func(*client.NewSubmission)) client.NewSubmission {
	in := client.NewSubmission{
		Task: "vectoradd", Devices: []string{"CPU"}, Mode: job.ModeRanked, FileName: "kernel.cpp", Source: "int x;\n",
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// tell passes what the store recorded on, as the recorder does.
func (s *testSite) tell(out work.Recorded) {
	for _, e := range out.Events {
		s.site.Hub.RunEvent(e)
	}
	if out.Board != nil {
		s.site.Hub.BoardChanged(out.Board.VersionID, out.Board.Device, out.Board.Change)
	}
}

func isProblem(err error, code string) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Code == code
}
