package catalog_test

import (
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

func TestAProblemIsATextOfItsTask(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		bundle, err := s.Catalog.Bundle(t.Context(), w.Task.VersionID)
		modelstest.Check(t, err)
		bundle.Definition.ProblemGroup = "sums"
		version, change, err := s.Catalog.Publish(t.Context(), w.Admin, w.Task.ID, bundle, nil)
		modelstest.Check(t, err)
		if change != catalog.ChangeTexts || version.ID != w.Task.VersionID || version.ProblemName != "sums" {
			t.Errorf("a problem makes the change %q, version %d of problem %q", change, version.Number,
				version.ProblemName)
		}
		list, err := s.TaskList(t.Context(), accounts.User{})
		modelstest.Check(t, err)
		if len(list) != 1 || list[0].ProblemName != "sums" {
			t.Errorf("the list has %+v", list)
		}
	})
}
