package app

import (
	"crypto/rand"
	"os"
	"strings"

	"warpboard/models/fleet"
)

// longestHost leaves room for what makes a worker's name its own.
const longestHost = 30

// join gets a name and a secret for a worker with a join token. A chosen name stays; the machine's name gets a unique suffix.
func (w *WorkerSettings) join() {
	if w.Join == "" {
		return
	}
	// Thirty bits: enough for the workers of one site. The site refuses a name that another worker has.
	if host, _ := os.Hostname(); w.Name == host {
		w.Name = plainName(host) + "-" + strings.ToLower(rand.Text()[:6])
	}
	w.Secret = fleet.JoinSecret(w.Join, rand.Text())
}

// plainName is a machine's name as a worker may have it.
func plainName(host string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, host)
	return name[:min(len(name), longestHost)]
}

// hideSecrets takes what lets this process in out of its environment, before it starts programs of strangers.
// The process has read them by now. /proc/PID/environ still shows what it was started with, to its own user and to root;
// sandboxes have other users, and a /proc of their own.
func hideSecrets() error {
	for _, name := range []string{"join", "worker-secret"} {
		if err := os.Unsetenv(envName(name)); err != nil {
			return err
		}
	}
	return nil
}
