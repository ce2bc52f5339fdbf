// Package switches lets admins keep something off for a while: new submissions, evaluations, or one task, each with a
// sentence that those are told who wanted it. A device has a pause of its own, see models/fleet.
//
// Read switches.go. SwitchOff and SwitchOn are for the pages of web/pages/operation and write to the audit log. Check is called by
// Store.Submit and Store.SubmitEvaluation inside their transactions, so nothing slips in behind a switch; it refuses with
// Forbidden and the admin's sentence. What waits already goes on.
//
// What is off lies among the settings, not in a table of its own: there are a handful, and a deleted task's switch stays
// there without effect.
package switches
