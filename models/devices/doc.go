// Package devices stores which devices workers have had, resolves the names of devices in tasks, and sorts rows of older
// versions, which named a device only by its model.
//
// Read devices.go (known devices, meanings of names) and then sort.go (old rows).
//
// The dispatcher of evaluator/dispatch stores the devices of heartbeats, package catalog resolves the devices of tasks, and
// the store of package models sorts when it is opened. Admins assign what could not be sorted, through package fleet.
//
// It promises that a run is only moved to a device that its own machine record names, or all records of its old device, or
// an admin.
//
// What may go wrong: a machine record lacks the memory's size. It comes from the worker that had the GPU last, or from an
// admin if no worker has it any more.
package devices
