// Package app is the command line: settings, and commands that connect the parts of the program.
//
// Read it in this order: app.go (Run picks the command), config_flags.go (every flag), config.go (their struct),
// config_command.go (combining flags, variables, a file, and defaults into a Config), settings.go (the settings file,
// and secrets in separate files), config_check.go (invalid combinations), then the commands: serve.go, work.go,
// migrate.go (and token), check_config.go. Package cli has the commands that talk to a site, verify those that check
// something on this machine; machine finds the tools of serve, work, and verify. lock.go keeps two processes from using
// one data directory, listen.go takes over a socket of systemd.
//
// main calls Main; end-to-end tests call Run. All problems of the settings are reported at once, no help and no message
// prints a secret, and a command ends when its context does.
//
// serve.go copies the site's settings into web.Config; the compiler does not notice a forgotten one.
package app
