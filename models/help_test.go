package models_test

import (
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// world is a modelstest.World with helpers for the tests of this package.
type world struct{ modelstest.World }

func newWorld(t *testing.T, s *models.Store) world {
	t.Helper()
	return world{modelstest.NewWorld(t, s)}
}
