package queue

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// cast authorizes the workers of an attacked site: it returns the device of the named worker, and whether the secret is
// right.
func cast(name, secret string) ([]string, bool, error) {
	device := map[string]string{thief: "CPU", sibling: "CPU", victim: "H200"}[name]
	return []string{device}, device != "" && secret == "secret-of-"+name, nil
}

// attackedEverywhere runs an attack on each kind of site to which remote workers can connect.
func attackedEverywhere(t *testing.T, attack func(t *testing.T, a *attacked)) {
	for name, open := range map[string]func(t *testing.T) (site, string){
		"listening": func(t *testing.T) (site, string) {
			q := openQueue(t, Config{ListenAddress: "127.0.0.1:0", Authorize: cast})
			return q, q.Addr()
		},
		"cluster": func(t *testing.T) (site, string) {
			ns := documentedCluster(t)
			return openQueue(t, Config{ClusterURL: strings.Replace(ns.ClientURL(), "nats://",
				"nats://site:secret-of-site@",
				1)}), ns.ClientURL()
		},
	} {
		t.Run(name, func(t *testing.T) {
			q, url := open(t)
			a := &attacked{site: q, received: map[string]bool{}}
			a.worker = func(t *testing.T, name string) *Conn {
				return dial(t, WorkerConfig{URL: url, Name: name, Secret: "secret-of-" + name})
			}
			a.raw = func(t *testing.T, opts ...nats.Option) *nats.Conn {
				nc, err := nats.Connect(url, append([]nats.Option{nats.UserInfo(thief, "secret-of-"+thief), nats.NoReconnect(),
					nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}, opts...)...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(nc.Close)
				return nc
			}
			a.listen()
			attack(t, a)
		})
	}
}

// documentedCluster starts a NATS server with the configuration docs/nats-cluster.conf, as an operator would.
func documentedCluster(t *testing.T) *server.Server {
	t.Helper()
	for variable, value := range map[string]string{
		"WARPBOARD_SITE_PASSWORD": "site", "WARPBOARD_CPU1_SECRET": thief, "WARPBOARD_CPU2_SECRET": sibling,
		"WARPBOARD_GPU1_SECRET": victim,
	} {
		t.Setenv(variable, "secret-of-"+value)
	}
	opts, err := server.ProcessConfigFile("../../docs/nats-cluster.conf")
	if err != nil {
		t.Fatal(err)
	}
	opts.Host, opts.Port, opts.NoSigs, opts.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	ns, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(serverReadyTimeout) {
		t.Fatal("NATS server not ready")
	}
	return ns
}
