package submissions

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
	if said := conditionsOf(a, b, true); !strings.HasPrefix(said, "Conditions are the same") {
		t.Errorf("undisturbed: %q", said)
	}
	b.Run.Disturbed = "a load of 8.2"
	if said := conditionsOf(a, b,
		true); said != "#57 was disturbed (a load of 8.2): the machine may explain the difference." {
		t.Errorf("disturbed: %q", said)
	}
	if said := conditionsOf(a, b,
		false); said != "#57 was disturbed (a load of 8.2): a quiet machine may show a difference." {
		t.Errorf("disturbed, without a difference: %q", said)
	}
	a.Run.Disturbed = "a load of 3"
	if said := conditionsOf(a, b,
		false); said != "Both runs were disturbed (#56: a load of 3; #57: a load of 8.2): a quiet machine may show a difference." {
		t.Errorf("both disturbed, without a difference: %q", said)
	}
	b.Run.Machine.Driver = "580"
	if said := conditionsOf(a, b, true); !strings.HasPrefix(said, "Conditions differ") ||
		!strings.HasSuffix(said, "may explain the difference.") {
		t.Errorf("disturbed, and of another driver: %q", said)
	}
	if said := conditionsOf(a, b, false); !strings.HasPrefix(said, "Conditions differ: ") ||
		strings.Contains(said, "explain") {
		t.Errorf("another driver, without a difference: %q", said)
	}
}
