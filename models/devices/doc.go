// Package devices knows which silicon workers have been seen with, what the names of devices in tasks mean by that, and
// sorts rows of the time when a device was called by its model alone.
//
// Read devices.go (what is known, what a name means) and then sort.go (old rows).
//
// The recorder of evaluator/dispatch notes what heartbeats say, package catalog resolves the devices of tasks, and the store of
// package models sorts when it is opened. Admins assign what could not be sorted, through package fleet.
//
// It promises that a run is only moved to a silicon that its own machine record names, or all records of its old device,
// or an admin.
//
// What may go wrong: a machine record has no memory. It is taken from the worker that had the unit last, and asked of an admin
// where no worker has it any more.
package devices
