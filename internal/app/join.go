package app

import (
	"crypto/rand"
	"os"
	"strings"

	"warpboard/models/fleet"
)

// longestHost limits the host name in a worker's name, to have room for the unique suffix.
const longestHost = 30

// join sets a name and a secret for a worker that uses a join token. A chosen name stays; the host name gets a unique
// suffix.
func (w *WorkerSettings) join() {
	if w.Join == "" {
		return
	}
	// Thirty bits suffice for the workers of one site. The site refuses a name that another worker has.
	if host, _ := os.Hostname(); w.Name == host {
		w.Name = plainName(host) + "-" + strings.ToLower(rand.Text()[:6])
	}
	w.Secret = fleet.JoinSecret(w.Join, rand.Text())
}

// plainName converts a host name to a valid name of a worker.
func plainName(host string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), longestHost)]
}

// hideSecrets removes credentials from this process's environment before it starts untrusted programs. The process has
// read them already. /proc/PID/environ still shows the initial environment to its own user and to root; sandboxes have
// other users, and their own /proc.
func hideSecrets() error {
	for _, name := range []string{"join", "worker-secret"} {
		if err := os.Unsetenv(envName(name)); err != nil {
			return err
		}
	}
	return nil
}
