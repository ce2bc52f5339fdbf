package submissions

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// TestADisturbedRunIsNoEqualOfAnother checks that a comparison with a disturbed run does not say that the conditions
// are the same.
func TestADisturbedRunIsNoEqualOfAnother(t *testing.T) {
	var a, b comparedRun
	a.Submission.ID, b.Submission.ID = 56, 57
	a.Run.Device, b.Run.Device = "CPU", "CPU"
	a.Run.Machine, b.Run.Machine = &job.Machine{}, &job.Machine{}
	if message := conditionsText(a, b, true); !strings.HasPrefix(message, "Conditions are the same") {
		t.Errorf("undisturbed: %q", message)
	}
	b.Run.DisturbedReason = "a load of 8.2"
	if message := conditionsText(a, b,
		true); message != "#57 was disturbed (a load of 8.2): the machine may explain the difference." {
		t.Errorf("disturbed: %q", message)
	}
	if message := conditionsText(a, b,
		false); message != "#57 was disturbed (a load of 8.2): a quiet machine may show a difference." {
		t.Errorf("disturbed, without a difference: %q", message)
	}
	a.Run.DisturbedReason = "a load of 3"
	if message := conditionsText(a, b,
		false); message != "Both runs were disturbed (#56: a load of 3; #57: a load of 8.2): a quiet machine may show a difference." {
		t.Errorf("both disturbed, without a difference: %q", message)
	}
	b.Run.Machine.Driver = "580"
	if message := conditionsText(a, b, true); !strings.HasPrefix(message, "Conditions differ") ||
		!strings.HasSuffix(message, "may explain the difference.") {
		t.Errorf("disturbed, and of another driver: %q", message)
	}
	if message := conditionsText(a, b, false); !strings.HasPrefix(message, "Conditions differ: ") ||
		strings.Contains(message, "explain") {
		t.Errorf("another driver, without a difference: %q", message)
	}
}
