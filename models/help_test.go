package models_test

import (
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// world has steps of these tests beside those of all.
type world struct{ modelstest.World }

func newWorld(t *testing.T, s *models.Store) world {
	t.Helper()
	return world{modelstest.NewWorld(t, s)}
}
