// Package switches lets admins turn something off for a while: new submissions, evaluations, or one task, each with a
// sentence for the people who are refused. Devices have their own pause, see models/fleet.
//
// Read switches.go. SwitchOff and SwitchOn are for the pages of web/pages/operation and write to the audit log. Check
// is called by Store.Submit and Store.SubmitEvaluation inside their transactions, so nothing slips in behind a switch;
// it refuses with Forbidden and the admin's sentence. Queued work goes on.
//
// Switches are settings, not a table: there are a handful, and a deleted task's switch stays without effect.
package switches
