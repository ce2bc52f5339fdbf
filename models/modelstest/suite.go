package modelstest

import (
	"slices"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/work"
)

// Tagged creates a public CPU task with a tag, and with a baseline "PyTorch" of the given time in ns (0 means none).
func Tagged(t testing.TB, s *models.Store, owner accounts.User, name, tag string, baseline float64) catalog.Task {
	t.Helper()
	b := Bundle(name)
	b.Definition.Tags = []string{tag}
	if baseline > 0 {
		b.Definition.Baselines = map[string]string{"PyTorch": "plain.cpp"}
		b.Files["plain.cpp"] = []byte("int " + name + ";")
	}
	task := Got[catalog.Task](t)(s.Catalog.CreateTask(t.Context(), owner,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: b}))
	if baseline == 0 {
		return task
	}
	slot := job.Slot{Device: "CPU", Machine: job.Machine{Driver: "570"}}
	Check(t, Third(s.RecordSlots(t.Context(), job.Heartbeat{
		Worker:          "w1",
		WorkerStartedAt: time.Now(),
		Slots:           []job.Slot{slot},
	})))
	Got[int](t)(s.StartBaselines(t.Context(), task.ID))
	waiting := Got[[]work.QueuedWork](t)(s.Work.NextWork(t.Context(), "CPU", 1000, time.Now().Add(time.Hour)))
	for _, q := range slices.Backward(waiting) {
		run := Got[work.Run](t)(s.Work.Run(t.Context(), q.RunID))
		if run.VersionID == task.VersionID {
			Finish(t, s, run, baseline)
			return task
		}
	}
	t.Fatalf("no baseline of %s waits", name)
	return task
}
