package boards

import "math"

// isUnconfirmedSQL is the condition that a run q has a record that is not confirmed, and may have been lucky.
const isUnconfirmedSQL = `(exists (select 1 from boards k where k.version_id = q.version_id and k.device = q.device and k.confirming = q.id)
	or (q.disturbed <> '' or q.noisy) and q.was_ns is null)`

// ChangedByConfirmation reports whether a confirmation changed a score by more than minScoreDifference. was is nil
// without a confirmation.
func ChangedByConfirmation(was *float64, ns float64) bool {
	return was != nil && math.Abs(*was-ns) > minScoreDifference*min(*was, ns)
}
