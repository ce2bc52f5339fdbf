// Package units is the page about the units of a device: what the same two kernels took on each, measured while it is idle, and
// whether one drifts. Package web routes to it; evaluator/gauge measures, models/sentinels keeps the numbers and says what
// drift is.
//
// Read units.go. The page is for everyone: units are named by their worker and a hash, never by a serial number. It shows the
// last 900 measurements of all units of a device together, so of a device with many units it goes back less far.
package units
