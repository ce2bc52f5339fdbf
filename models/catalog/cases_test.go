package catalog_test

import (
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/tasks"
)

func TestATaskThatLeavesADeviceWithoutBenchmarkIsRefused(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		root := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		b := modelstest.Bundle("big")
		b.Definition.Benchmarks[0] = append(b.Definition.Benchmarks[0], tasks.Arg{Name: "devices", Value: "H100, B200"})
		create := func(devices ...string) (catalog.Task, error) {
			return s.Catalog.CreateTask(t.Context(), root,
				catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: devices}, Bundle: b})
		}
		refused := func(err error, device string) {
			t.Helper()
			if db.KindOf(err) != db.Invalid || !strings.HasPrefix(err.Error(), "No benchmark is for "+device+".") {
				t.Errorf("got %v", err)
			}
		}
		_, err := create("B200", "CPU")
		refused(err, "CPU")
		task, err := create("B200", "H100-SXM")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Catalog.UpdateTask(t.Context(), root, task.ID, catalog.TaskSettings{Devices: []string{"B200", "T4"}})
		refused(err, "T4")
		b.Definition.Benchmarks[0][2].Value = "H100"
		_, _, err = s.Catalog.Publish(t.Context(), root, task.ID, b, nil)
		refused(err, "B200")
		if now, err := s.Catalog.TaskByID(t.Context(), task.ID); err != nil || now.VersionID != task.VersionID ||
			len(now.Devices) != 2 {
			t.Errorf("what was refused changed the task: %+v, %v", now, err)
		}
	})
}
