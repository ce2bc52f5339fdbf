// Package machine finds what this machine can evaluate with: its devices, compilers and a sandbox. `serve` and `work` make a
// worker of it, and the commands of package verify run solutions on it without a site.
//
// It only looks: nothing is compiled or tried here, and what does not work shows when a slot tests itself
// (evaluator/selftest). Two processes on one machine need ranges of user ids of their own, see Settings.FirstUID.
package machine
