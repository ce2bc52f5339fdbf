package models_test

import (
	"errors"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// got fails the test if there is an error, and else returns the value: got[T](t)(call()).
func got[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		check(t, err)
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func third[A, B any](_ A, _ B, err error) error { return err }

// wantKind fails unless err is of the kind and its message is a sentence for a person.
func wantKind(t *testing.T, err error, kind models.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s", kind)
	}
	if got := models.KindOf(err); got != kind {
		t.Fatalf("got %s (%v), want %s", got, err, kind)
	}
	if e, ok := errors.AsType[*models.Error](err); ok && !strings.HasSuffix(e.Message, ".") && !strings.Contains(e.Message, ":") {
		t.Errorf("no sentence: %q", e.Message)
	}
}

// world is a task on one device with people around it.
type world struct {
	admin, ann, ben models.User
	task            models.Task
}

func newWorld(t *testing.T, s *models.Store) world {
	t.Helper()
	w := world{
		admin: modelstest.Person(t, s, "Root", models.RoleAdmin),
		ann:   modelstest.Person(t, s, "Ann", models.RoleUser),
		ben:   modelstest.Person(t, s, "Ben", models.RoleUser),
	}
	w.task = modelstest.Task(t, s, w.admin, "vectoradd", "CPU")
	return w
}

func (w world) submit(t *testing.T, s *models.Store, user models.User) models.Run {
	t.Helper()
	return modelstest.Submit(t, s, user, w.task)[0]
}

// score submits for a person and brings the run to its end.
func (w world) score(t *testing.T, s *models.Store, user models.User, ns float64) models.Run {
	t.Helper()
	run := w.submit(t, s, user)
	modelstest.Finish(t, s, run, ns)
	return run
}
