// Package devices stores which devices workers have had, and resolves the names of devices in tasks.
//
// The dispatcher of evaluator/dispatch stores the devices of heartbeats; package catalog resolves the devices of tasks.
package devices
