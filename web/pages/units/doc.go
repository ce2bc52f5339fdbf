// Package units is the page about the units of a device: what the same kernels took on each, again and again, and whether one
// drifts. models/sentinels keeps the numbers and says what drift is.
package units
