package profiles

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// TestADisturbedRunIsNoEqualOfAnother: a comparison does not call the conditions the same.
func TestADisturbedRunIsNoEqualOfAnother(t *testing.T) {
	var a, b comparedRun
	a.Sub.ID, b.Sub.ID = 56, 57
	a.Run.Device, b.Run.Device = "CPU", "CPU"
	a.Run.Machine, b.Run.Machine = &job.Machine{}, &job.Machine{}
	if said := conditionsOf(a, b); !strings.HasPrefix(said, "Conditions are the same") {
		t.Errorf("undisturbed: %q", said)
	}
	b.Run.Disturbed = "a load of 8.2"
	if said := conditionsOf(a, b); said != "#57 was disturbed (a load of 8.2): the machine may explain the difference." {
		t.Errorf("disturbed: %q", said)
	}
	b.Run.Machine.Driver = "580"
	if said := conditionsOf(a, b); !strings.HasPrefix(said, "Conditions differ") || !strings.HasSuffix(said, "may explain the difference.") {
		t.Errorf("disturbed, and of another driver: %q", said)
	}
}
