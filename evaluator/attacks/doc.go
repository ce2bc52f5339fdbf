// Package attacks is the corpus of what submissions have tried to get a better time than they deserve, and of honest
// relatives of each. Every new way that is found becomes a folder here:
//
//	cpu|gpu/NAME/attack.yml   what it is (Attack's fields)
//	cpu|gpu/NAME/submission.* the attack
//	cpu|gpu/NAME/twin.*       uses the same technique legally, and must be ranked
//	tasks/NAME                tasks of the corpus's own; others are built in
//	reference/waves.py        what kernels of the evaluation API are compared with
//	results/DEVICE.json       how all ended there the last time; the site shows it
//
// Attacks on the CPU run in the tests of this package; those on GPUs by scripts/attack-check.
package attacks
