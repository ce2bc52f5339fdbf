// Package app is the command line: settings, and commands that wire the parts of the program together.
//
// Read it in this order: app.go (Run picks the command), config_flags.go (every flag), config.go (their struct),
// config_command.go (how a flag, a variable, a file and a default become one Config), settings.go (the settings file, and
// secrets in files of their own), config_check.go (invalid combinations), then the commands: serve.go, work.go, migrate.go
// (and token), check_config.go. Package cli has those that talk to a site, verify those that check something on this
// machine; machine finds the tools of serve, work and verify. lock.go keeps two processes from one data directory, listen.go
// takes a socket of systemd.
//
// main calls Main; end-to-end tests call Run. It promises that all problems of the settings are reported at once, that
// no help and no message prints a secret, and that a command ends when its context does.
//
// What may go wrong: serve.go copies the site's settings into web.Config; a forgotten one compiles.
package app
