package models_test

import (
	"errors"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
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

// wantKind fails unless err has the kind and its message is a sentence for a person.
func wantKind(t *testing.T, err error, kind db.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s", kind)
	}
	if got := db.KindOf(err); got != kind {
		t.Fatalf("got %s (%v), want %s", got, err, kind)
	}
	if e, ok := errors.AsType[*db.Error](err); ok && !strings.HasSuffix(e.Message, ".") && !strings.Contains(e.Message, ":") {
		t.Errorf("no sentence: %q", e.Message)
	}
}

// world is a task on one device with people around it.
type world struct {
	admin, ann, ben accounts.User
	task            catalog.Task
}

func newWorld(t *testing.T, s *models.Store) world {
	t.Helper()
	w := world{
		admin: modelstest.Person(t, s, "Root", accounts.RoleAdmin),
		ann:   modelstest.Person(t, s, "Ann", accounts.RoleUser),
		ben:   modelstest.Person(t, s, "Ben", accounts.RoleUser),
	}
	w.task = modelstest.Task(t, s, w.admin, "vectoradd", "CPU")
	return w
}

func (w world) submit(t *testing.T, s *models.Store, user accounts.User) work.Run {
	t.Helper()
	return modelstest.Submit(t, s, user, w.task)[0]
}

// score submits for a person and brings the run to its end.
func (w world) score(t *testing.T, s *models.Store, user accounts.User, ns float64) work.Run {
	t.Helper()
	run := w.submit(t, s, user)
	modelstest.Finish(t, s, run, ns)
	return run
}
