package app

import (
	"crypto/rand"
	"os"
	"strings"

	"warpboard/models/fleet"
)

// maxHostName limits the letters of the host name in the name of a worker, so that a unique suffix fits.
const maxHostName = 30

// setJoinCredential sets the name and the secret of a worker that uses a join token. A name in the settings is kept; a
// host name gets a unique suffix.
func (w *WorkerSettings) setJoinCredential() {
	if w.JoinToken == "" {
		return
	}
	// Thirty random bits are enough for the workers of one site, which refuses the name of an existing worker.
	if host, _ := os.Hostname(); w.Name == host {
		w.Name = workerNameFromHost(host) + "-" + strings.ToLower(rand.Text()[:6])
	}
	w.Secret = fleet.JoinSecret(w.JoinToken, rand.Text())
}

// workerNameFromHost converts a host name to a valid name for a worker.
func workerNameFromHost(host string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), maxHostName)]
}

// clearSecretVariables removes credentials from the environment of this process before it starts untrusted programs.
// They have been read. /proc/PID/environ still shows the original environment to the same user and to root; sandboxes
// have other users and their own /proc.
func clearSecretVariables() error {
	for _, name := range []string{"join", "worker-secret"} {
		if err := os.Unsetenv(envName(name)); err != nil {
			return err
		}
	}
	return nil
}
