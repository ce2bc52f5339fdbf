// Package switches has what admins turn off for a while: new submissions, new evaluations, or one task, with a sentence
// for the people who are refused.
//
// TurnOff and TurnOn change a switch; CheckOn refuses if one is off. Whatever accepts work calls CheckOn in its
// transaction, so nothing slips in behind a switch; queued work goes on. Devices have their own pause, see
// models/fleet. Switches are settings: a deleted task's switch stays without effect. The package is small because a
// switch limits no amount, so that package quota was the wrong place.
package switches
