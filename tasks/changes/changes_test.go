package changes_test

import (
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"

	"warpboard/tasks"
	"warpboard/tasks/changes"
)

// TestNoKeyOfATaskChangesSilently checks that ChangesBetween reports a change of every field of Definition.
func TestNoKeyOfATaskChangesSilently(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for field := range reflect.TypeFor[tasks.Definition]().Fields() {
		reported := false
		for try := 0; try < 20 && !reported; try++ { // try again: a random value can be empty, which is no change
			value, ok := quick.Value(field.Type, random)
			if !ok {
				t.Fatalf("no values of %s, a %s", field.Name, field.Type)
			}
			var changed tasks.Bundle
			reflect.ValueOf(&changed.Definition).Elem().FieldByIndex(field.Index).Set(value)
			reported = len(changes.ChangesBetween(&tasks.Bundle{}, &changed)) > 0
		}
		if !reported {
			t.Errorf("no change of %s is told", field.Name)
		}
	}
}
