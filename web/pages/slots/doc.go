// Package slots is the page about the slots of a device: the times of the same two kernels on each, measured while it is
// idle, and whether one drifts. Package web routes to it; evaluator/gauge measures, models/sentinels stores the numbers and
// detects drift.
//
// Read units.go. The page is for everyone: slots are named by their worker and a hash, never by a serial number. It shows
// the last 900 measurements of all slots of a device together, so for a device with many slots it covers less time.
package slots
