// Package e2e has the tests of the whole: real servers and workers as processes of their own, real sandboxes, a real browser.
//
// Read main_test.go (how a server is started, killed and started again), help_test.go (people who submit), then story_test.go
// (what a person does from sign-in to the board). faults_*_test.go break things on purpose: processes are killed, disks fill,
// workers vanish, kernels attack. testdata has a task that compiles quickly.
//
// The test binary is the program, too: it behaves as warpboard when it is started by a test, so nothing is built twice.
// Tests wait for what happens, never for a time to pass. They run as root or not; the kernels need bubblewrap, the pages Chromium.
//
// What may go wrong: these tests compile and measure, and a busy machine makes them slow. One that compares times of two
// kernels has them sleep, so that load does not turn them round.
package e2e
