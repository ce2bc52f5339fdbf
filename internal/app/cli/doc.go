// Package cli has the commands that talk to a site: signing in, submitting, reading boards, comparing, publishing, CI.
//
// Read cli.go (the list, and how a command finds its site), project.go (the settings of a folder of kernels), then a file
// per command. Package sites has the file with sites and tokens, console the arguments, what is printed, and the exit codes.
//
// It promises that no secret is printed, that a token goes only to the site that issued it, and that nothing that
// a site or a kernel sends moves the cursor of a terminal.
package cli
