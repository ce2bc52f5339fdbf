// Package switches lets admins keep something off for a while: new submissions, evaluations, or one task, each with a
// sentence that those are told who wanted it. A device has a pause of its own, see models/fleet.
//
// Store.Submit and Store.SubmitEvaluation ask inside their transactions, so nothing slips in behind a switch. What waits
// already goes on.
package switches
