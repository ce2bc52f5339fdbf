// Package console is the interface of commands to the outside world: Environment, arguments (args.go), output
// (screen.go, output.go, jq.go), error messages (explain.go), and exit codes (exit.go).
//
// Text from a site or a kernel never moves the cursor of a terminal, and exit codes never change their meaning.
package console
