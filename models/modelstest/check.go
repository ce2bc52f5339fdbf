package modelstest

import (
	"errors"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

// Got returns a function that fails the test on an error and otherwise returns the value: Got[T](t)(call()).
func Got[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		Check(t, err)
		return value
	}
}

// Check fails the test on an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Second returns the error of a call with two results.
func Second[T any](_ T, err error) error { return err }

// Third returns the error of a call with three results.
func Third[A, B any](_ A, _ B, err error) error { return err }

// WantKind fails the test unless err has the kind and its message is a sentence.
func WantKind(t testing.TB, err error, kind db.ErrorKind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s", kind)
	}
	if got := db.KindOf(err); got != kind {
		t.Fatalf("got %s (%v), want %s", got, err, kind)
	}
	if e, ok := errors.AsType[*db.Error](err); ok && !strings.HasSuffix(e.Message, ".") &&
		!strings.Contains(e.Message, ":") {
		t.Errorf("no sentence: %q", e.Message)
	}
}

// World is a task for one device, its author, and three other people.
type World struct {
	Admin, Ann, Ben accounts.User
	Task            catalog.Task
}

// NewWorld creates the people and the task of a World.
func NewWorld(t testing.TB, s *models.Store) World {
	t.Helper()
	w := World{Admin: Person(t, s, "Root", accounts.RoleAdmin), Ann: Person(t, s, "Ann", accounts.RoleUser),
		Ben: Person(t, s, "Ben", accounts.RoleUser)}
	w.Task = Task(t, s, w.Admin, "vectoradd", "CPU")
	return w
}

// Submit creates a submission of a person to the task and returns its run.
func (w World) Submit(t testing.TB, s *models.Store, user accounts.User) work.Run {
	t.Helper()
	return Submit(t, s, user, w.Task)[0]
}

// Score creates a submission of a person and ends its run with a score.
func (w World) Score(t testing.TB, s *models.Store, user accounts.User, ns float64) work.Run {
	t.Helper()
	run := w.Submit(t, s, user)
	Finish(t, s, run, ns)
	return run
}
