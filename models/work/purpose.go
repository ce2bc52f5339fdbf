package work

import "warpboard/evaluator/job"

// Purpose is the reason for a run.
type Purpose string

// The purposes. A person requests the first two; the site makes the others, most of them after a ranked run
// (ProfileOf). Submitted, Confirm, and Remeasure in mode ranked leave samples (package samples).
const (
	Submitted Purpose = "submitted"
	Practice  Purpose = "practice" // submitted after the task's deadline
	Baseline  Purpose = "baseline" // of a task, to compare with
	Profile   Purpose = "profile"  // the profile of a ranked run
	Validate  Purpose = "validate" // the task's validation script on a ranked run
	Confirm   Purpose = "confirm"  // a turn of a confirmation
	Rerun     Purpose = "remeasure"
)

// AskedCondition chooses runs that a person asked for, in SQL.
const AskedCondition = "purpose in ('submitted', 'practice')"

// Asked reports whether a person asked for the run.
func (p Purpose) Asked() bool { return p == Submitted || p == Practice }

// purposeOf returns the purpose of a run in the mode that does not follow another run.
func purposeOf(mode job.Mode) Purpose {
	switch mode {
	case ModePractice:
		return Practice
	case ModeBaseline:
		return Baseline
	}
	return Submitted
}
