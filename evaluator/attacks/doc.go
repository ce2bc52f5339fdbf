// Package attacks is the corpus of known attacks: submissions that try to get a better time than they deserve, each
// with an honest twin. Every newly found attack becomes a directory here:
//
//	cpu|gpu/NAME/attack.yml   description (fields of Attack)
//	cpu|gpu/NAME/submission.* the attack
//	cpu|gpu/NAME/twin.*       uses the same technique honestly, and must be ranked
//	tasks/NAME                tasks of the corpus; others are built in
//	reference/waves.py        reference kernel for the evaluation API
//	results/DEVICE.json       latest results on a device; shown on the site
//
// Attacks on the CPU run in the tests of this package, those on GPUs in scripts/attack-check. There, attacks with
// several ranks need a machine with as many GPUs, and one on a profile needs Nsight Compute: they run only by name.
package attacks
