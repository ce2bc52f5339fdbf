// Package attacks is the corpus of known attacks: submissions that try to get a better time than they deserve, and an honest
// twin of each. Every newly found attack becomes a folder here:
//
//	cpu|gpu/NAME/attack.yml   what it is (Attack's fields)
//	cpu|gpu/NAME/submission.* the attack
//	cpu|gpu/NAME/twin.*       uses the same technique legally, and must be ranked
//	tasks/NAME                tasks of the corpus's own; others are built in
//	reference/waves.py        the reference for kernels of the evaluation API
//	results/DEVICE.json       how all ended there the last time; shown on the site
//
// Attacks on the CPU run in the tests of this package; those on GPUs by scripts/attack-check. Those of several ranks need a
// machine with as many GPUs, and one on a profile needs Nsight Compute: they run there only by name.
package attacks
