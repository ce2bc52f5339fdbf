package work

import "warpboard/evaluator/job"

// Purpose is the reason for a run.
type Purpose string

// Purposes. People request the first two. The site creates the others, most of them after a ranked run (ProfileOf).
// Ranked runs with purpose Submitted, Confirm, or Rerun store samples (package samples).
const (
	Submitted Purpose = "submitted"
	Practice  Purpose = "practice" // submitted after the task's deadline
	Baseline  Purpose = "baseline" // of a task, to compare with
	Profile   Purpose = "profile"  // the profile of a ranked run
	Validate  Purpose = "validate" // the task's validation script on a ranked run
	Confirm   Purpose = "confirm"  // a turn of a confirmation
	Rerun     Purpose = "remeasure"
)

// RequestedCondition selects runs that a person requested, in SQL.
const RequestedCondition = "purpose in ('submitted', 'practice')"

// Requested reports whether a person requested the run.
func (p Purpose) Requested() bool { return p == Submitted || p == Practice }

// purposeOf returns the purpose of a run in a mode that does not follow another run.
func purposeOf(mode job.Mode) Purpose {
	switch mode {
	case ModePractice:
		return Practice
	case ModeBaseline:
		return Baseline
	}
	return Submitted
}
