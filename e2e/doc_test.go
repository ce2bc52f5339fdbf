// Package e2e has end-to-end tests: real servers and workers as separate processes, real sandboxes, a real browser.
//
// Read main_test.go (starting, killing, and restarting a server), help_test.go (people who submit), then story_test.go
// (a person's path from sign-in to the board). The faults_*_test.go files break things on purpose: processes are
// killed, disks fill, workers vanish, kernels attack. testdata has a task that compiles quickly.
//
// The test binary is also the program: started by a test, it behaves as warpboard, so nothing is built twice. Tests
// wait for states, never for fixed times. They run as root or not; kernels need bubblewrap, pages need Chromium.
//
// These tests compile and measure, so a busy machine makes them slow. Kernels whose times are compared sleep, so that
// load does not change the result.
package e2e
