package webtest

import (
	"context"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// Stage is a site with one task, its creator, and a user who submits to it.
type Stage struct {
	*Site
	Creator, User accounts.User
	Task          catalog.Task
}

// NewStage starts a site and creates the people and the task of a stage. Without devices, the task is for the CPU.
func NewStage(t testing.TB, devices ...string) *Stage {
	t.Helper()
	st := &Stage{Site: Start(t)}
	st.People(t, devices...)
	return st
}

// People creates the creator, the user, and the task of the stage.
func (s *Stage) People(t testing.TB, devices ...string) {
	t.Helper()
	if len(devices) == 0 {
		devices = []string{"CPU"}
	}
	s.Creator = modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator)
	s.User = modelstest.Person(t, s.Cfg.Store, "ada", accounts.RoleUser)
	s.Task = modelstest.Task(t, s.Cfg.Store, s.Creator, "vectoradd", devices...)
}

// Change sets a task's settings. It keeps the devices.
func (s *Stage) Change(task catalog.Task, to catalog.TaskSettings) {
	s.T.Helper()
	to.Devices = task.Devices
	if _, err := s.Cfg.Store.Catalog.UpdateTask(context.Background(), s.Creator, task.ID, to); err != nil {
		s.T.Fatal(err)
	}
}

// Close sets a task's deadline to a second ago.
func (s *Stage) Close(task catalog.Task) {
	s.T.Helper()
	past := time.Now().Add(-time.Second)
	s.Change(task, catalog.TaskSettings{Deadline: &past})
}

// Hide makes a task visible to its creator only.
func (s *Stage) Hide(task catalog.Task) {
	s.T.Helper()
	s.Change(task, catalog.TaskSettings{Visibility: catalog.Hidden})
}

// Tell announces the stored events and the changed board to open pages, as the dispatcher does in a server.
func (s *Site) Tell(out work.Effect) {
	for _, e := range out.Events {
		s.Cfg.Hub.RunEvent(e)
	}
	if out.ChangedBoard != nil {
		s.Cfg.Hub.BoardChanged(out.ChangedBoard.VersionID, out.ChangedBoard.Device, out.ChangedBoard.ChangeNumber)
	}
}
