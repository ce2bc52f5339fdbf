package work

import "warpboard/evaluator/job"

// Purpose is the reason for a run.
type Purpose string

// Purposes. People request the first two. The site creates the others, most of them after a ranked run (ProfileOf).
// Ranked runs with purpose PurposeSubmitted, PurposeConfirm, or PurposeRerun store samples (package samples).
const (
	PurposeSubmitted Purpose = "submitted"
	PurposePractice  Purpose = "practice" // submitted after the task's deadline
	PurposeBaseline  Purpose = "baseline" // a run of a task's baseline, for comparison
	PurposeProfile   Purpose = "profile"  // the profile of a ranked run
	PurposeValidate  Purpose = "validate" // the task's validation script on a ranked run
	PurposeConfirm   Purpose = "confirm"  // a turn of a confirmation
	PurposeRerun     Purpose = "remeasure"
)

// RequestedRunSQL selects runs that a person requested, in SQL.
const RequestedRunSQL = "purpose in ('submitted', 'practice')"

// IsRequestedByPerson reports whether a person requested the run.
func (p Purpose) IsRequestedByPerson() bool { return p == PurposeSubmitted || p == PurposePractice }

// requestedPurpose returns the purpose of a run in a mode that does not follow another run.
func requestedPurpose(mode job.Mode) Purpose {
	switch mode {
	case ModePractice:
		return PurposePractice
	case ModeBaseline:
		return PurposeBaseline
	}
	return PurposeSubmitted
}
