package catalog_test

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
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
		for name, deadline := range map[string]*time.Time{"over": &past, "going": &future} {
			_, err := s.Catalog.CreateTask(ctx, w.Admin, catalog.NewTask{
				TaskSettings: catalog.TaskSettings{Devices: []string{"H200"}, Deadline: deadline,
					Visibility: catalog.Hidden},
				Bundle: modelstest.Bundle(name),
			})
			modelstest.Check(t, err)
		}
		changed := modelstest.Bundle("vectoradd")
		changed.Files["reference.h"] = []byte("// changed\n")
		version, _, err := s.Catalog.Publish(ctx, w.Admin, w.Task.ID, changed, nil)
		modelstest.Check(t, err)
		open, err := s.Catalog.OpenTasks(ctx)
		modelstest.Check(t, err)
		if len(open) != 2 || open[0].Slug != "vectoradd" || open[1].Slug != "going" {
			t.Fatalf("open tasks: %+v", open)
		}
		if open[0].VersionID != version.ID || !slices.Equal(open[1].Devices, []string{"H200"}) {
			t.Errorf("open tasks: %+v", open)
		}
	})
}
