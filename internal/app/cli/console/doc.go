// Package console is how a command meets the outside world: what it gets (Environment), the arguments that it takes
// (args.go), what it prints (screen.go, jq.go), and how it says what went wrong (explain.go) and ends (exit.go).
//
// It promises that nothing that a site or a kernel sends moves the cursor of a terminal, and that an exit code never changes
// its meaning.
package console
