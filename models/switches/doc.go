// Package switches turns parts of the site off for a while: new submissions, new evaluations, or one task. Admins give
// a sentence for the people who are refused.
//
// TurnOff and TurnOn change a switch; CheckOn returns an error if a part is off. Each transaction that accepts work
// calls CheckOn, so no work is accepted after a part was turned off. Work that is already queued still runs. Devices
// have a separate pause (package fleet). Switches are stored as settings; the switch of a deleted task remains without
// effect. Switches are not in package quota, because they limit no amount.
package switches
