package web

import (
	"context"
	"errors"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web/client"
)

// stage is a site with a creator's task and somebody who submits to it.
type stage struct {
	*testSite
	creator, user models.User
	task          models.Task
}

func newStage(t testing.TB, devices ...string) *stage {
	t.Helper()
	if len(devices) == 0 {
		devices = []string{"CPU"}
	}
	s := startSite(t)
	st := &stage{testSite: s}
	st.creator = modelstest.Person(t, s.Store, "creator", models.RoleCreator)
	st.user = modelstest.Person(t, s.Store, "ada", models.RoleUser)
	st.task = modelstest.Task(t, s.Store, st.creator, "vectoradd", devices...)
	return st
}

// change gives a task other settings; its devices stay.
func (s *stage) change(task models.Task, to models.TaskSettings) {
	s.t.Helper()
	to.Devices = task.Devices
	if _, err := s.Store.UpdateTask(context.Background(), s.creator, task.ID, to); err != nil {
		s.t.Fatal(err)
	}
}

// close puts a task's deadline into the past.
func (s *stage) close(task models.Task) {
	s.t.Helper()
	past := time.Now().Add(-time.Second)
	s.change(task, models.TaskSettings{Deadline: &past})
}

// hide makes a task visible to its creator only.
func (s *stage) hide(task models.Task) {
	s.t.Helper()
	s.change(task, models.TaskSettings{Visibility: models.Hidden})
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
func (s *testSite) tell(out models.Recorded) {
	for _, e := range out.Events {
		s.Hub.RunEvent(e)
	}
	if out.Board != nil {
		s.Hub.BoardChanged(out.Board.VersionID, out.Board.Device, out.Board.Change)
	}
}

func isProblem(err error, code string) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Code == code
}
