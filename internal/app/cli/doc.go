// Package cli has the commands that talk to a site: signing in, submitting, reading boards, comparing, publishing, CI.
//
// Read cli.go (the list, and how a command finds its site), project.go (the settings of a folder of kernels), then a
// file per command. Package console has the file with sites and tokens, the arguments, the output, and the exit codes.
//
// No secret is printed, a token is sent only to the site that issued it, and text from a site or a kernel never moves
// the cursor of a terminal.
package cli
