// Package app is the command line: settings, and commands that wire the parts of the house together.
//
// Read it in this order: app.go (Run picks the command), config_flags.go (every flag), config.go (what
// they fill), config_command.go (how a flag, a variable, a file and a default become one Config), settings.go (the settings file,
// and secrets in files of their own), config_check.go (what cannot work), then the commands: serve.go, work.go, migrate.go (and token), check_config.go. Package
// cli has those that talk to a site, verify those that check something on this machine; machine finds what serve, work and
// verify evaluate with. lock.go keeps two processes from one data directory, listen.go takes a socket of systemd.
//
// main calls Main; end-to-end tests call Run. It promises that everything wrong with the settings is told at once, that
// no help and no message prints a secret, and that a command ends when its context does.
//
// What may go wrong: a setting of the site is filled into web.Config in serve.go; forgetting one compiles.
package app
