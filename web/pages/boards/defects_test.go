package boards_test

import (
	"net/http"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestABoardSaysThatNoWorkerHasItsDevice(t *testing.T) {
	s := webtest.NewScene(t)
	path, b := "/tasks/"+s.Task.Slug+"/boards/H200", s.Browser()
	read := func() { // refreshes the list of workers, as the dispatcher does
		if _, err := s.Cfg.Store.Fleet.Workers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if b.Page(path, http.StatusOK).Find("[data-offline]").Length() != 0 {
		t.Error("a board with a worker is offline")
	}
	modelstest.RecordHeartbeat(t, s.Cfg.Store,
		job.Heartbeat{
			Worker:          "rack-7",
			WorkerStartedAt: time.Now().Add(-time.Hour),
			Slots:           []job.Slot{{Device: "CPU"}},
		})
	read()
	before := s.Cfg.Store.QueryCount()
	webtest.WantText(t, b.Page(path, http.StatusOK), "[data-offline]", "offline")
	if asked := s.Cfg.Store.QueryCount() - before; asked > 8 {
		t.Errorf("the board asks %d queries", asked)
	}
}
