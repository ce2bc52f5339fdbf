package app

import (
	"crypto/rand"
	"os"
	"strings"

	"warpboard/models/fleet"
)

// maxHostName limits the host name in a worker's name, to have room for the unique suffix.
const maxHostName = 30

// setJoinCredential sets a name and a secret for a worker that uses a join token. A chosen name stays; the host name
// gets a unique suffix.
func (w *WorkerSettings) setJoinCredential() {
	if w.JoinToken == "" {
		return
	}
	// Thirty bits suffice for the workers of one site. The site refuses a name that another worker has.
	if host, _ := os.Hostname(); w.Name == host {
		w.Name = workerNameOf(host) + "-" + strings.ToLower(rand.Text()[:6])
	}
	w.Secret = fleet.JoinSecret(w.JoinToken, rand.Text())
}

// workerNameOf converts a host name to a valid name of a worker.
func workerNameOf(host string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), maxHostName)]
}

// clearSecretVariables removes credentials from this process's environment before it starts untrusted programs. The
// process has read them already. /proc/PID/environ still shows the initial environment to its own user and to root;
// sandboxes have other users, and their own /proc.
func clearSecretVariables() error {
	for _, name := range []string{"join", "worker-secret"} {
		if err := os.Unsetenv(envName(name)); err != nil {
			return err
		}
	}
	return nil
}
