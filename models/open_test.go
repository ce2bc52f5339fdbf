package models_test

import (
	"slices"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

func TestOpenTasksAreListedNewestVersionFirst(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
		for name, deadline := range map[string]*time.Time{"over": &past, "going": &future} {
			_, err := s.Catalog.CreateTask(ctx, w.admin, catalog.NewTask{
				TaskSettings: catalog.TaskSettings{Devices: []string{"H200"}, Deadline: deadline, Visibility: catalog.Hidden},
				Bundle:       modelstest.Bundle(name),
			})
			check(t, err)
		}
		changed := modelstest.Bundle("vectoradd")
		changed.Files["reference.h"] = []byte("// changed\n")
		version, _, err := s.Catalog.Publish(ctx, w.admin, w.task.ID, changed, nil)
		check(t, err)
		open, err := s.Catalog.OpenTasks(ctx)
		check(t, err)
		if len(open) != 2 || open[0].Slug != "vectoradd" || open[1].Slug != "going" {
			t.Fatalf("open tasks: %+v", open)
		}
		if open[0].VersionID != version.ID || !slices.Equal(open[1].Devices, []string{"H200"}) {
			t.Errorf("open tasks: %+v", open)
		}
	})
}
